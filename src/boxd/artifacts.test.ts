import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { omitUndefined } from "../base/omit-undefined.ts";
import type { Artifact, BoxdConfig } from "../contract/link/messages.ts";
import { findMissing } from "./artifacts.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "agentbox-artifacts-"));
  await mkdir(join(dir, "bin"));
  await writeFile(join(dir, "bin", "works"), "#!/bin/sh\n");
  await chmod(join(dir, "bin", "works"), 0o755);
  await writeFile(join(dir, "bin", "plain"), "text");
  await mkdir(join(dir, "bin", "folder"));
  await symlink(join(dir, "bin", "works"), join(dir, "bin", "linked"));
  await symlink(join(dir, "nowhere"), join(dir, "bin", "dangling"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const program = (path: string, searchPath?: string): Artifact => ({
  what: "a program",
  path,
  kind: "program",
  ...omitUndefined({ searchPath }),
});

const missing = (...artifacts: Artifact[]): string[] =>
  findMissing({
    protocol: 1,
    box: "a-box",
    hostname: "a-box",
    workspace: "/workspace",
    env: { PATH: join(dir, "bin") },
    services: [],
    artifacts,
  } satisfies BoxdConfig);

it("finds programs by path and by name, also through links", () => {
  expect(missing(program(join(dir, "bin/works")), program("works"), program("linked"))).toEqual([]);
});

it("names what is not there, cannot be executed or is of another kind, in order", () => {
  const wrong = [
    program(join(dir, "bin/absent")),
    program("plain"),
    program("folder"),
    program("dangling"),
    { ...program(join(dir, "bin/plain")), kind: "directory" as const },
  ];
  expect(missing(...wrong)).toEqual(wrong.map(({ path }) => path));
  expect(missing({ ...program(join(dir, "bin/plain")), kind: "file" })).toEqual([]);
  expect(missing({ ...program(join(dir, "bin/folder")), kind: "directory" })).toEqual([]);
});

it("looks where the program's own PATH says", () => {
  expect(missing(program("works", "/nowhere"))).toEqual(["works"]);
  expect(missing(program("works", `/nowhere:${join(dir, "bin")}`))).toEqual([]);
});

it("promises nothing about what the box makes itself", () => {
  expect(missing(program("later", "/workspace/node_modules/.bin"))).toEqual([]);
  expect(missing(program("later", "node_modules/.bin"))).toEqual([]);
  expect(missing(program("later", "/workspaces"))).toEqual(["later"]);
});

it("has nothing to say without promises", () => {
  expect(missing()).toEqual([]);
});
