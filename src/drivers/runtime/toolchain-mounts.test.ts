import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { checkToolchains } from "./toolchain-mounts.ts";

let dir: string;
let tool: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "abx-toolchains-")));
  tool = join(dir, "tool");
  for (const name of ["boxes", "tool/bin", "tool/conf", "tool/envs/e"])
    await mkdir(join(dir, name), { recursive: true });
});
afterEach(() => rm(dir, { recursive: true }));

const check = (source: string, target = source) =>
  checkToolchains([{ source, target }], { boxesDir: join(dir, "boxes"), boxd: "/boxd" });
const hidden = async () => (await check(tool, "/home/ada/tool")).masks.map(({ target }) => target);

it("puts empty files in the place of those that hold credentials, also in environments", async () => {
  expect(await hidden()).toEqual([]);
  for (const name of ["pip.conf", "credentials.toml", "envs/e/pip.conf", "bin/python3"])
    await writeFile(join(tool, name), "x");
  expect(await hidden()).toEqual([
    "/home/ada/tool/pip.conf",
    "/home/ada/tool/credentials.toml",
    "/home/ada/tool/envs/e/pip.conf",
  ]);
});

it("hides them at every path by which the box sees the directory", async () => {
  for (const name of ["gradle.properties", "pip.conf"]) await writeFile(join(tool, name), "x");
  const seen = ["/home/ada/versions/20", "/home/ada/versions/20.11.0"];
  const { masks } = await checkToolchains(
    seen.map((target) => ({ source: tool, target })),
    { boxesDir: join(dir, "boxes"), boxd: "/boxd" },
  );
  expect(masks.map(({ target }) => target).toSorted()).toEqual(
    seen.flatMap((target) => [`${target}/gradle.properties`, `${target}/pip.conf`]).toSorted(),
  );
});

it("leaves Maven its settings, unless a person has put a password there", async () => {
  const write = (text: string) => writeFile(join(tool, "conf/settings.xml"), text);
  await write("<settings><!-- <password>example</password> --></settings>");
  expect(await hidden()).toEqual([]);
  await write("<settings><servers><server><password>real</password></server></servers></settings>");
  expect(await hidden()).toEqual(["/home/ada/tool/conf/settings.xml"]);
});

it("shows what was agreed to, and not what a link in its place leads to", async () => {
  expect((await check(tool)).directories).toHaveLength(1);
  await mkdir(join(dir, "secrets"));
  await rename(tool, join(dir, "old"));
  // One that is gone is left out.
  expect((await check(tool)).directories).toEqual([]);
  await symlink(join(dir, "secrets"), tool);
  await expect(check(tool)).rejects.toMatchObject({ code: "mount.invalid" });
});

it.each(["/home/agent/tool", "/workspace/tool", "/usr/tool", "/etc/tool", "/opt/agentbox/tool", "/"])(
  "covers nothing of the box's own: %s",
  async (target) => {
    await expect(check(tool, target)).rejects.toMatchObject({ code: "mount.invalid" });
  },
);
