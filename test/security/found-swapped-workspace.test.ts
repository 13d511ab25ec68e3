/**
 * Found by attack: a directory that is mounted as the workspace may lie where another box can write. That box put a
 * link in its place, and the first one had the link's target on the host at its next start.
 */
import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { makeCanary } from "../support/vault-ground.ts";
import { shellInBox } from "./attack.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

it("a link in the place of a mounted workspace shows nothing else of the host", async () => {
  const [above, keys] = [join(daemon.scratch, "above"), join(daemon.scratch, "keys")];
  const project = join(above, "project");
  for (const dir of [project, keys]) mkdirSync(dir, { recursive: true, mode: 0o777 });
  writeFileSync(join(project, "mine"), "mine\n", { mode: 0o666 });
  const canary = makeCanary();
  writeFileSync(join(keys, "id"), canary, { mode: 0o666 });
  const { client } = daemon;
  const name = "swapped";
  await client.createBox({ name, projectDir: project, flags: { workspace: { mode: "mount" } } });
  expect((await shellInBox(daemon, name, "cat /workspace/mine")).stdout).toBe("mine\n");
  await client.stopBox(name);

  renameSync(project, join(above, "aside"));
  symlinkSync(keys, project);
  await expect(client.startBox(name)).rejects.toMatchObject({ code: "mount.invalid" });
  expect((await client.getBox(name)).box.state.phase).toBe("failed");

  // The control: with the directory back where it was, the box starts.
  unlinkSync(project);
  renameSync(join(above, "aside"), project);
  await client.startBox(name);
  expect((await shellInBox(daemon, name, "cat /workspace/*")).stdout).not.toContain(canary);
  expect((await shellInBox(daemon, name, "cat /workspace/mine")).stdout).toBe("mine\n");
}, 120_000);
