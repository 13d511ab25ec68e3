/** Ground for tests of reviews: a person's repository, boxes with a clone of it, and all that git knows about both. */
import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { waitFor } from "../../src/base/wait-for.ts";
import type { MergeRecord } from "../../src/contract/review/merge.ts";
import type { Review } from "../../src/contract/review/review.ts";
import type { TestDaemon } from "./daemon.ts";
import { isRoot } from "./host-facts.ts";
import { type ProgramResult, runProgram } from "./program.ts";

/** A repository on the host, as a person has it. */
export interface Project {
  readonly dir: string;
  /** git's output; fails the test when git fails. */
  git(...args: string[]): Promise<string>;
  write(path: string, content: string | Uint8Array, mode?: number): void;
  read(path: string): string;
  commit(message: string): Promise<string>;
}

const person = [
  "-c",
  "user.name=Pat Person",
  "-c",
  "user.email=pat@example.org",
  "-c",
  "safe.directory=*",
  "-c",
  "commit.gpgsign=false",
];

/** Gives it to the daemon's user, where that is another one. */
export async function giveTo(daemon: TestDaemon, path: string): Promise<void> {
  const { uid, gid } = statSync(daemon.scratch);
  if (isRoot && uid !== 0) await runProgram(["chown", "-Rh", `${uid}:${gid}`, path]);
}

/** A directory with files in it; no repository yet. */
export async function makeDirectory(
  daemon: TestDaemon,
  files: Readonly<Record<string, string>>,
): Promise<Project> {
  const dir = mkdtempSync(join(daemon.scratch, "project-"));
  const git = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runProgram(["git", ...person, "-C", dir, ...args]);
    if (code !== 0) throw new Error(`git ${args.join(" ")} ended with ${code}: ${stderr}`);
    await giveTo(daemon, dir);
    return stdout;
  };
  const project: Project = {
    dir,
    git,
    write(path, content, mode = 0o644) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), content, { mode });
    },
    read: (path) => readFileSync(join(dir, path), "utf8"),
    async commit(message) {
      await git("add", "-A");
      await git("commit", "-qm", message);
      return (await git("rev-parse", "HEAD")).trim();
    },
  };
  for (const [path, text] of Object.entries(files)) project.write(path, text);
  await giveTo(daemon, dir);
  return project;
}

/** The same as a repository of one commit on `main`. Its owner is configured in it: a merge commits in their name. */
export async function makeProject(
  daemon: TestDaemon,
  files: Readonly<Record<string, string>> = { "README.md": "# Shop\n", "src/cart.js": cart },
): Promise<Project> {
  const project = await makeDirectory(daemon, files);
  await project.git("init", "-q", "-b", "main");
  await project.git("config", "user.name", "Pat Person");
  await project.git("config", "user.email", "pat@example.org");
  await project.commit("First");
  return project;
}

/** Twenty lines, so that changes at both ends do not touch each other. */
const cart = Array.from({ length: 20 }, (_, at) => `export const line${at + 1} = ${at + 1};\n`).join("");

export const runIn = (daemon: TestDaemon, box: string, script: string): Promise<ProgramResult> =>
  daemon.cli(["exec", box, "--no-stdin", "--", "sh", "-ec", script]);

/** A box that has done its work and is stopped; `shell` is its agent, so no model is needed. */
export async function worked(
  daemon: TestDaemon,
  project: Pick<Project, "dir">,
  box: string,
  script: string,
  flags: readonly string[] = [],
): Promise<void> {
  const argv = ["run", "shell", "--name", box, "--keep", "--no-stdin", ...flags, "--", "sh", "-ec", script];
  const { code, stderr } = await daemon.cli(argv, { cwd: project.dir });
  if (code !== 0) throw new Error(`The work in ${box} ended with ${code}: ${stderr}`);
  await waitFor(
    `${box} is stopped`,
    async () => (await daemon.client.getBox(box)).box.state.phase === "stopped",
    // Its work is kept first, and that takes its time.
    30_000,
  );
}

/** The same, but the box goes on running. */
export async function working(
  daemon: TestDaemon,
  project: Pick<Project, "dir">,
  box: string,
  script = "true",
  flags: Record<string, unknown> = {},
): Promise<void> {
  await daemon.client.createBox({ name: box, projectDir: project.dir, flags });
  const { code, stderr } = await runIn(daemon, box, script);
  if (code !== 0) throw new Error(`The work in ${box} ended with ${code}: ${stderr}`);
}

export const reviewOf = (daemon: TestDaemon, box: string, ...args: string[]): Promise<Review> =>
  daemon.json<Review>(["diff", box, ...args]);

/** `merge BOX` of what is there now; tests about what was looked at call the command themselves. */
export async function merge(
  daemon: TestDaemon,
  box: string,
  ...args: string[]
): Promise<ProgramResult & { readonly record: MergeRecord | undefined }> {
  const result = await daemon.cli(["merge", box, "--unseen", ...args, "--json"]);
  const record = result.code === 0 ? (JSON.parse(result.stdout) as { merge: MergeRecord }).merge : undefined;
  return { ...result, record };
}

/** `--accept-danger` for each of these kinds. */
export const accepting = (kinds: Iterable<string>): string[] =>
  [...new Set(kinds)].flatMap((kind) => ["--accept-danger", kind]);

const allKinds = ({ dangers, history }: Review): string[] =>
  [...dangers, ...history.flatMap((commit) => commit.dangers)].map(({ kind }) => kind);

export const acceptingAll = async (daemon: TestDaemon, box: string): Promise<string[]> =>
  accepting(allKinds(await reviewOf(daemon, box)));

/** The code of a failed command with --json or without. */
export const codeOf = ({ stderr, stdout }: ProgramResult): string | undefined =>
  /error\[([a-z_.]+)\]/.exec(stderr)?.[1] ?? /"code":\s*"([a-z_.]+)"/.exec(stderr + stdout)?.[1];

/** Content, kind and mode of everything in a directory but `.git`: equal means untouched byte for byte. */
export function treeOf(directory: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = (below: string): void => {
    for (const name of readdirSync(join(directory, below)).toSorted()) {
      if (below === "" && name === ".git") continue;
      const path = join(below, name);
      const facts = lstatSync(join(directory, path));
      const mode = (facts.mode & 0o7777).toString(8);
      if (facts.isSymbolicLink()) found[path] = `link ${readlinkSync(join(directory, path))}`;
      else if (facts.isDirectory()) walk(path);
      else found[path] = `${mode} ${digest(readFileSync(join(directory, path)))}`;
    }
  };
  walk("");
  return found;
}

/** All that a person could miss in a repository: files, index, branches, HEAD, stashes, config and hooks. */
export async function stateOf(project: Project): Promise<Readonly<Record<string, unknown>>> {
  const inGit = (path: string) => join(project.dir, ".git", path);
  return {
    files: treeOf(project.dir),
    index: await project.git("ls-files", "--stage"),
    status: await project.git("status", "--porcelain=v2", "--branch"),
    refs: await project.git("for-each-ref", "refs/heads", "refs/tags", "refs/stash"),
    head: readFileSync(inGit("HEAD"), "utf8"),
    config: readFileSync(inGit("config"), "utf8"),
    hooks: readdirSync(inGit("hooks")).toSorted(),
  };
}

const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
