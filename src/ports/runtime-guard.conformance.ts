/** Cases about names in a workspace that a box may neither change nor make: the host would execute what they hold. */
import assert from "node:assert/strict";
import { chmod, chown, lstat, mkdir, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { waitFor } from "../base/wait-for.ts";
import { isAgentBoxError } from "../base/errors.ts";
import { guardedEntries, guardedSuffixes } from "../contract/guarded-paths.ts";
import type { ConformanceCase } from "./conformance.ts";
import { endingScript, type RuntimeContext, startUp, waitForFile } from "./runtime-context.ts";

const guarded = { entries: guardedEntries, suffixes: guardedSuffixes };
const guardedNames = guardedEntries.map(({ name }) => name);

/** Tries everything that could put something of the box's own under each name. */
const trying = (names: readonly string[]): string => `
const fs = require("node:fs");
process.chdir("/workspace");
const attempt = (action) => { try { action(); return "ok"; } catch (error) { return error.code; } };
const ways = {
  make: (name) => fs.writeFileSync(name, "planted", { flag: "wx" }),
  write: (name) => fs.writeFileSync(name, "planted"),
  mkdir: (name) => fs.mkdirSync(name),
  link: (name) => fs.linkSync("own", name),
  symlink: (name) => fs.symlinkSync("own", name),
  rename: (name) => fs.renameSync("own", name),
  renameDirectory: (name) => fs.renameSync("own-directory", name),
  chmod: (name) => fs.chmodSync(name, 0o777),
  moveAway: (name) => fs.renameSync(name, "moved-" + name),
  remove: (name) => fs.rmSync(name, { recursive: true }),
  below: (name) => fs.writeFileSync(name + "/planted", "x"),
  belowDirectory: (name) => fs.mkdirSync(name + "/hooks"),
};
const results = {};
for (const name of ${JSON.stringify(names)}) {
  for (const [way, action] of Object.entries(ways)) {
    for (const path of ["own", "own-directory"]) fs.rmSync(path, { recursive: true, force: true });
    fs.writeFileSync("own", "planted");
    fs.mkdirSync("own-directory");
    results[name + " " + way] = attempt(() => action(name));
  }
}
fs.writeFileSync("tried.tmp", JSON.stringify(results));
fs.renameSync("tried.tmp", "tried");
setInterval(() => undefined, 1000);
`;

const test = (
  name: string,
  run: (context: RuntimeContext) => Promise<void>,
): ConformanceCase<RuntimeContext> => ({ name: `guard: ${name}`, needs: ["processes"], run });

async function tryAll(context: RuntimeContext, box: Awaited<ReturnType<RuntimeContext["makeBox"]>>) {
  await context.runtime.start(box);
  return Object.entries(JSON.parse(await waitForFile(box, "tried")) as Record<string, string>);
}

/** Everything but what the cases themselves put there. */
const leftIn = async (workspace: string): Promise<string[]> =>
  (await readdir(workspace)).filter(
    (name) => !/^(up|end|tried|own|own-directory|control.*|moved-.*)$/.test(name),
  );

export const guardCases: readonly ConformanceCase<RuntimeContext>[] = [
  test("what is absent at the start cannot be made, and leaves nothing behind", async (context) => {
    const { runtime, makeBox } = context;
    const box = await makeBox("absent", { script: trying([...guardedNames, "control"]), guarded });
    const results = await tryAll(context, box);
    // The control: the same ways work with an unguarded name.
    const control = Object.fromEntries(results.filter(([key]) => key.startsWith("control ")));
    for (const way of ["make", "write", "rename", "chmod", "moveAway"])
      assert.equal(control[`control ${way}`], "ok", way);
    for (const [key, result] of results) if (!key.startsWith("control ")) assert.notEqual(result, "ok", key);
    await runtime.stop("absent", { graceMs: 5_000 });
    assert.deepEqual(await leftIn(box.dirs.workspace), []);
  }),
  test("what is there stays as it is", async (context) => {
    const { makeBox, subject } = context;
    const names = [".git", ".vscode", ".envrc", ".Claude", "team.code-workspace", "control"];
    const box = await makeBox("present", { script: trying(names), guarded });
    const at = (...parts: string[]) => join(box.dirs.workspace, ...parts);
    for (const name of names.slice(0, 2)) await mkdir(at(name));
    await writeFile(at(".git", "config"), "of the host");
    for (const name of names.slice(2)) await writeFile(at(name), "of the host");
    for (const path of [...names.map((name) => at(name)), at(".git/config")]) {
      await chmod(path, 0o777);
      await chown(path, subject.owner.uid, subject.owner.gid);
    }
    const results = await tryAll(context, box);
    assert.equal(Object.fromEntries(results)["control write"], "ok");
    for (const [key, result] of results) if (!key.startsWith("control ")) assert.notEqual(result, "ok", key);
    for (const name of [".git/config", ".envrc", ".Claude", "team.code-workspace"])
      assert.equal(await readFile(at(name), "utf8"), "of the host");
    await context.runtime.stop("present", { graceMs: 5_000 });
    const left = (await leftIn(box.dirs.workspace)).sort();
    assert.deepEqual(left, [".Claude", ".envrc", ".git", ".vscode", "team.code-workspace"]);
  }),
  test("a link under a guarded name is refused, wherever it leads", async (context) => {
    const { runtime, makeBox } = context;
    const box = await makeBox("linked", { guarded });
    for (const target of ["/etc", "absent", "own"]) {
      await symlink(target, join(box.dirs.workspace, ".claude"));
      await assert.rejects(runtime.start(box), (error) => isAgentBoxError(error, "workspace.source_invalid"));
      await rm(join(box.dirs.workspace, ".claude"));
    }
    assert.deepEqual(await leftIn(box.dirs.workspace), []);
    assert.equal((await startUp(context, box)).phase, "running");
  }),
  test("two boxes in one directory: the guard stays until the last has ended", async (context) => {
    const { runtime, makeBox } = context;
    const first = await makeBox("first", { guarded });
    const second = await makeBox("second", { guarded, script: whenTold(trying([".envrc", ".mcp.json"])) });
    const shared = { ...second, dirs: { ...second.dirs, workspace: first.dirs.workspace } };
    await startUp(context, first);
    await runtime.start(shared);
    await runtime.stop("first", { graceMs: 5_000 });
    await writeFile(join(first.dirs.workspace, "control-go"), "go");
    const results = Object.entries(JSON.parse(await waitForFile(shared, "tried")) as Record<string, string>);
    for (const [key, result] of results) assert.notEqual(result, "ok", key);
    await runtime.remove("second");
    assert.deepEqual(await leftIn(first.dirs.workspace), []);
  }),
  test("what a killed daemon left is tidied up by the next, unless somebody has used it", async (context) => {
    const { runtime, makeBox, reopen } = context;
    const box = await makeBox("orphan", { guarded, script: endingScript });
    await startUp(context, box);
    await runtime[Symbol.asyncDispose]();
    assert.ok((await lstat(join(box.dirs.workspace, ".vscode"))).isDirectory());
    await writeFile(join(box.dirs.workspace, ".vscode", "mine"), "of the person");
    await writeFile(join(box.dirs.workspace, "end"), "end");
    const next = await reopen();
    await waitFor("the end", async () => (await next.find("orphan"))?.phase === "stopped");
    await waitFor("tidy", async () => (await leftIn(box.dirs.workspace)).length === 1);
    assert.deepEqual(await leftIn(box.dirs.workspace), [".vscode"]);
  }),
  test("no second way: other mounts of the same directory are refused", async (context) => {
    const { runtime, makeBox, boxesDir } = context;
    const outer = join(boxesDir, "..", "project");
    const workspace = join(outer, "app");
    await mkdir(join(workspace, "sub"), { recursive: true });
    await chmod(workspace, 0o777);
    const box = await makeBox("second-way", { guarded });
    const start = (source: string, target: string, readOnly: boolean) =>
      runtime.start({ ...box, dirs: { ...box.dirs, workspace }, mounts: [{ source, target, readOnly }] });
    for (const source of [outer, workspace, join(workspace, "sub")])
      await assert.rejects(start(source, "/data", false), (error) => isAgentBoxError(error, "mount.invalid"));
    const other = join(boxesDir, "..", "other");
    await mkdir(other);
    await assert.rejects(start(other, "/workspace/.vscode", true), (error) =>
      isAgentBoxError(error, "mount.invalid"),
    );
    assert.equal((await start(outer, "/data", true)).phase, "running");
  }),
];

const whenTold = (script: string): string => `
const waiting = setInterval(() => {
  if (!require("node:fs").existsSync("/workspace/control-go")) return;
  clearInterval(waiting);
  ${script}
}, 5);
`;
