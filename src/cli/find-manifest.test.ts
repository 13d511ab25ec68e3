import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findManifest, getManifest } from "./find-manifest.ts";

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
    expect(await findManifest(join(root, "repo/src/deep"), "/nowhere")).toMatchObject({
      text: "near",
      dir: join(root, "repo"),
    });
  });

  it("does not look above the repository", async () => {
    await writeFile(join(root, "agentbox.toml"), "far");
    expect(await findManifest(join(root, "repo/src"), "/nowhere")).toMatchObject({ text: "far" });
    await mkdir(join(root, "repo/.git"));
    expect(await findManifest(join(root, "repo/src"), "/nowhere")).toBeUndefined();
  });

  it("does not look above the home directory", async () => {
    await writeFile(join(root, "agentbox.toml"), "far");
    expect(await findManifest(join(root, "repo/src"), join(root, "repo"))).toBeUndefined();
  });
});

it("says what to do when there is none", async () => {
  await mkdir(join(root, "repo/.git"));
  await expect(getManifest(join(root, "repo"), "/nowhere")).rejects.toMatchObject({
    code: "manifest.not_found",
    hint: "Make one with: agentbox init",
  });
});
