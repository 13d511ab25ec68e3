import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readHostEnv } from "../../host/env.ts";
import { findManifest, getManifest } from "./find-manifest.ts";

const reader = { ...readHostEnv(), userHome: "/nowhere", agentboxHome: "/nowhere" };
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "agentbox-find-"));
  await mkdir(join(root, "repo/src/deep"), { recursive: true });
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe("findManifest", () => {
  it("finds the nearest one above", async () => {
    await writeFile(join(root, "agentbox.toml"), "far");
    await writeFile(join(root, "repo/agentbox.toml"), "near");
    expect(await findManifest(join(root, "repo/src/deep"), reader)).toMatchObject({
      text: "near",
      dir: join(root, "repo"),
    });
  });

  it("does not look above the repository", async () => {
    await writeFile(join(root, "agentbox.toml"), "far");
    expect(await findManifest(join(root, "repo/src"), reader)).toMatchObject({ text: "far" });
    await mkdir(join(root, "repo/.git"));
    expect(await findManifest(join(root, "repo/src"), reader)).toBeUndefined();
  });

  it("does not look above the home directory", async () => {
    await writeFile(join(root, "agentbox.toml"), "far");
    expect(
      await findManifest(join(root, "repo/src"), { ...reader, userHome: join(root, "repo") }),
    ).toBeUndefined();
  });
});

it("waits for no pipe, reads no device, and does not go on without what it cannot read", async () => {
  const file = join(root, "repo/agentbox.toml");
  execFileSync("mkfifo", [file]);
  const failed = { code: "file.failed", message: expect.stringContaining("no ordinary file") };
  await expect(findManifest(join(root, "repo"), reader)).rejects.toMatchObject(failed);
  await rm(file);
  await symlink("/dev/zero", file);
  await expect(findManifest(join(root, "repo"), reader)).rejects.toMatchObject(failed);
  await rm(file);
  await writeFile(join(root, "shared.toml"), "shared");
  await symlink(join(root, "shared.toml"), file);
  expect(await findManifest(join(root, "repo"), reader)).toMatchObject({ text: "shared" });
});

it("says what to do when there is none", async () => {
  await mkdir(join(root, "repo/.git"));
  await expect(getManifest(join(root, "repo"), reader)).rejects.toMatchObject({
    code: "manifest.not_found",
    hint: "Make one with: agentbox init",
  });
});
