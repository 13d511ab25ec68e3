import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asksByDefault } from "./asks-by-default.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "abx-asks-"));
});
afterAll(() => rm(dir, { recursive: true }));

const config = async (text: string): Promise<string> => {
  const file = join(dir, "config.toml");
  await writeFile(file, text);
  return file;
};
const none = "/nowhere/config.toml";

describe("asksByDefault", () => {
  it("asks when nobody has said anything about the network", async () => {
    expect(await asksByDefault(undefined, none)).toBe(true);
    expect(await asksByDefault('version = 1\n[agent]\nname = "shell"\n', none)).toBe(true);
    expect(await asksByDefault("version = 1 # no network here\n", none)).toBe(true);
  });

  it("leaves it to a manifest that has a network section, however it is written", async () => {
    expect(await asksByDefault("version = 1\n[network]\n", none)).toBe(false);
    expect(await asksByDefault('version = 1\nnetwork.allow = ["example.org"]\n', none)).toBe(false);
    expect(await asksByDefault('version = 1\n["network"]\nallow = []\n', none)).toBe(false);
  });

  it("leaves it to the person's own default, and only to that", async () => {
    expect(await asksByDefault(undefined, await config('[network]\ndefault = "deny"\n'))).toBe(false);
    expect(await asksByDefault(undefined, await config('[network]\nonly = ["example.org"]\n'))).toBe(true);
  });

  it("decides nothing for a file that is broken; the daemon refuses it", async () => {
    expect(await asksByDefault("[network", none)).toBe(true);
  });
});
