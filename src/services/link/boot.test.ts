import { access } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import type { ServiceSpec } from "../../contract/box.ts";
import type { Artifact } from "../../contract/link/messages.ts";
import { FixtureBox, removeBuild } from "./box.fixture.ts";

afterAll(removeBuild);

const marking: ServiceSpec = {
  name: "marking",
  argv: ["/bin/sh", "-c", "touch ran; exec sleep 600"],
  env: {},
  after: [],
  ready: { kind: "none" },
  readyTimeoutMs: 5_000,
  restart: "no",
};
const shell: Artifact = { what: "a shell", path: "/bin/sh", kind: "program" };
const absent: Artifact = { what: "a tool", path: "no-such-tool", kind: "program" };
const stateOf = async (box: FixtureBox) => (await box.link.health()).services[0]?.state;

test("with everything there, services start: the control", async () => {
  await using box = await FixtureBox.start({ services: [marking], artifacts: [shell] });
  expect(box.link.missing).toEqual([]);
  await waitFor("the service has run", () =>
    access(join(box.workspace, "ran")).then(
      () => true,
      () => false,
    ),
  );
});

test("with something missing, boxd says what and starts nothing", async () => {
  await using box = await FixtureBox.start({ services: [marking], artifacts: [shell, absent] });
  expect(box.link.missing).toEqual(["no-such-tool"]);
  expect(await stateOf(box)).toBe("waiting");
  await expect(access(join(box.workspace, "ran"))).rejects.toMatchObject({ code: "ENOENT" });
});

test("a sealed box takes no more secrets; before, it does", async () => {
  await using box = await FixtureBox.start();
  await box.link.putSecrets({ env: { TOKEN: "first" }, files: [] });
  expect((await box.link.health()).isSealed).toBe(false);
  expect((await box.link.seal()).isSealed).toBe(true);
  await expect(box.link.putSecrets({ env: { TOKEN: "second" }, files: [] })).rejects.toMatchObject({
    message: expect.stringContaining("sealed"),
  });
  expect((await box.exec(["printenv", "TOKEN"])).stdout).toBe("first\n");
  expect((await box.link.seal()).isSealed).toBe(true);
});
