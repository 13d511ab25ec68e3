/**
 * Threat 36, package caches: what one box puts there, another one runs. It reaches another box only when a person keeps
 * it for the project, then as a copy, and another project never.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import type { ProjectCache } from "../../src/contract/cache.ts";
import { makeDirectory } from "../support/review.ts";
import { type Ground, onEachDaemon, shellInBox } from "./attack.ts";

const directories = [".npm/_cacache", ".cache/pip", ".cargo/registry", "go/pkg/mod"];
const program = "~/.cargo/registry/run.sh";

const plant = (word: string): string =>
  [
    ...directories.map((directory) => `mkdir -p ~/${directory} && echo ${word} > ~/${directory}/mark`),
    `printf '#!/bin/sh\\necho ${word}\\n' > ${program}`,
    `chmod 755 ${program}`,
  ].join(" && ");
/** The box's part of it: the marks, and the program's output. */
const look = `for directory in ${directories.join(" ")}; do cat ~/$directory/mark 2>/dev/null; done; ${program} 2>/dev/null; true`;
const found = (word: string): string => `${word}\n`.repeat(directories.length + 1);

const inodesBelow = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)))
    .map(({ dev, ino }) => `${dev}:${ino}`);

onEachDaemon("package caches", (ground: Ground) => {
  const boxIn = async (projectDir: string, name: string, cache?: "box" | "project"): Promise<string> => {
    await ground.daemon.client.createBox({
      name,
      projectDir,
      flags: { workspace: { mode: "empty", ...omitUndefined({ cache }) } },
    });
    return name;
  };
  const see = async (box: string): Promise<string> => (await shellInBox(ground.daemon, box, look)).stdout;
  const clean = async (...names: string[]): Promise<void> => {
    for (const name of names) await ground.daemon.client.removeBox(name, { force: true });
  };

  it("flow from one box to another only when a person says so, as a copy, within one project", async () => {
    const { client } = ground.daemon;
    const project = (await makeDirectory(ground.daemon, { "a.txt": "a" })).dir;
    const other = (await makeDirectory(ground.daemon, { "b.txt": "b" })).dir;
    await boxIn(project, "cache-one", "project");
    await boxIn(project, "cache-two", "project");
    expect((await shellInBox(ground.daemon, "cache-one", plant("poison"))).code).toBe(0);
    // The control: where it was written it is there, and runs.
    expect(await see("cache-one")).toBe(found("poison"));
    expect(await see("cache-two")).toBe("");

    // Not while the box runs: it could change its home under the host's hands.
    const early = await ground.daemon.cli(["cache", "save", "cache-one", "--json"]);
    expect(early.stderr + early.stdout).toContain("box.wrong_phase");
    await client.stopBox("cache-one", { graceMs: 1_000 });
    await boxIn(project, "cache-three", "project");
    expect(await see("cache-three")).toBe("");

    const { cache } = await ground.daemon.json<{ cache: ProjectCache }>(["cache", "save", "cache-one"]);
    expect(cache).toMatchObject({ projectDir: project, box: "cache-one", paths: directories });
    // The control: now it is there for a new box that asks for it.
    await boxIn(project, "cache-four", "project");
    expect(await see("cache-four")).toBe(found("poison"));
    // And for no other: boxes that were there, boxes that did not ask, boxes of another project.
    await boxIn(project, "cache-five");
    await boxIn(other, "cache-six", "project");
    for (const name of ["cache-two", "cache-three", "cache-five", "cache-six"]) {
      expect(await see(name), name).toBe("");
    }

    // Each has files of its own: what one does to them is seen by none.
    expect((await shellInBox(ground.daemon, "cache-four", plant("worse"))).code).toBe(0);
    await boxIn(project, "cache-seven", "project");
    expect(await see("cache-seven")).toBe(found("poison"));
    const [four, seven] = await Promise.all(
      ["cache-four", "cache-seven"].map(async (name) => (await client.getBox(name)).paths.home),
    );
    const known = new Set(inodesBelow(four!));
    expect(known.size).toBeGreaterThan(0);
    expect(inodesBelow(seven!).filter((inode) => known.has(inode))).toEqual([]);

    await client.restartBox("cache-four");
    expect(await see("cache-four")).toBe(found("worse"));
    const { events } = await client.listEvents({ type: "cache.saved", limit: 10 });
    expect(events.map(({ box, data }) => [box, data["projectDir"]])).toEqual([["cache-one", project]]);
    await clean(...["one", "two", "three", "four", "five", "six", "seven"].map((name) => `cache-${name}`));
  });

  it("are not to be reached from a box, and forgotten when they are cleared", async () => {
    const { client, home } = ground.daemon;
    const project = (await makeDirectory(ground.daemon, { "a.txt": "a" })).dir;
    await boxIn(project, "store-one", "project");
    await shellInBox(ground.daemon, "store-one", plant("kept"));
    await client.stopBox("store-one", { graceMs: 1_000 });
    await client.saveCache("store-one");
    const store = join(home, "caches");
    // The control: the host has it.
    expect(readdirSync(store).filter((name) => name.endsWith(".tar")).length).toBeGreaterThan(0);
    await boxIn(project, "store-two", "project");
    expect(await see("store-two")).toBe(found("kept"));
    const reach = `cat ${store}/* /proc/self/root${store}/* 2>/dev/null; grep -F ${store} /proc/mounts; true`;
    expect((await shellInBox(ground.daemon, "store-two", reach)).stdout).toBe("");
    expect(statSync(store).mode & 0o777).toBe(0o700);

    const df = await ground.daemon.cli(["df"]);
    expect(df.stdout).toMatch(/^project caches +\d/m);
    expect((await ground.daemon.cli(["cache"])).stdout).toContain(project);
    expect((await ground.daemon.cli(["cache", "clear"], { cwd: project })).code).toBe(0);
    await boxIn(project, "store-three", "project");
    expect(await see("store-three")).toBe("");
    expect((await ground.daemon.cli(["cache", "clear"], { cwd: project })).code).toBe(3);
    await clean("store-one", "store-two", "store-three");
  });
});
