/** A person's repository, a box that works on a clone of it, and the review repository in between. All are real. */
import { execFileSync } from "node:child_process";
import {
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  realpath,
  rm,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import type { MergeMode, MergeRecord } from "../../contract/review/merge.ts";
import { systemClock } from "../../host/clock.ts";
import type { MergeOutcome, MergeRequest, Merges } from "../../ports/merge.ts";
import { openMerges } from "./index.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

export class MergeFixture {
  readonly dir: string;
  readonly project: string;
  readonly review: string;
  readonly merges: Merges;
  #boxes = 0;

  private constructor(dir: string) {
    this.dir = dir;
    this.project = join(dir, "project");
    this.review = join(dir, "review.git");
    this.merges = openMerges({
      isRoot: process.getuid!() === 0,
      userHome: join(dir, "user"),
      tempDir: join(dir, "tmp"),
      clock: systemClock,
    });
  }

  /** Without files there is a repository without a commit. */
  static async create(files?: Files): Promise<MergeFixture> {
    const fixture = new MergeFixture(await realpath(await mkdtemp(join(tmpdir(), "ab-merge-"))));
    await mkdir(join(fixture.dir, "user"));
    await mkdir(join(fixture.dir, "tmp"));
    await mkdir(fixture.project);
    const identity = "[user]\n\tname = A Person\n\temail = person@example.com\n";
    await writeFile(join(fixture.dir, "user/.gitconfig"), identity);
    fixture.git(["init", "-q", "-b", "main"]);
    if (files) {
      await fixture.write(files);
      fixture.commit("first");
    }
    fixture.git(["init", "-q", "--bare", fixture.review]);
    return fixture;
  }

  /** Plain git, as a person would run it. */
  git(args: readonly string[], cwd = this.project, env: Record<string, string> = {}): string {
    const settings = ["-c", "safe.directory=*", "-c", "protocol.file.allow=always", "-c", "gc.auto=0"];
    return execFileSync("git", [...settings, ...args], {
      cwd,
      env: {
        PATH: "/usr/local/bin:/usr/bin:/bin",
        HOME: join(this.dir, "user"),
        GIT_CONFIG_NOSYSTEM: "1",
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    }).toString("latin1");
  }

  async write(files: Files, root = this.project): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    }
  }

  commit(message: string, cwd = this.project, env: Record<string, string> = {}): string {
    this.git(["add", "-A"], cwd);
    this.git(["commit", "-q", "--allow-empty", "-m", message], cwd, env);
    return this.head(cwd);
  }

  head(cwd = this.project): string {
    return this.git(["rev-parse", "HEAD"], cwd).trim();
  }

  /** Lets an agent work on a clone and takes what it did to the review repository. */
  async work(
    edit: (box: string) => unknown,
    mode: MergeMode = "squash",
    from: { readonly project?: string } = {},
  ): Promise<MergeRequest> {
    const box = join(this.dir, `box-${++this.#boxes}`);
    this.git(["clone", "-q", "--no-hardlinks", from.project ?? this.project, box], this.dir);
    this.git(["config", "user.name", "An Agent"], box);
    this.git(["config", "user.email", "agent@example.com"], box);
    const hasBase = this.git(["for-each-ref"], box) !== "";
    const emptyTree = this.git(["hash-object", "-w", "-t", "tree", "/dev/null"], box).trim();
    const base = hasBase ? this.head(box) : this.git(["commit-tree", "-m", "base", emptyTree], box).trim();
    await edit(box);
    this.git(["add", "-A"], box);
    const tree = this.git(["write-tree"], box).trim();
    const head = this.git(["for-each-ref", "refs/heads"], box) === "" ? base : this.head(box);
    const commit = this.git(["commit-tree", "-m", "snapshot", "-p", head, tree], box).trim();
    this.git(["fetch", "-q", box, base, head, commit], this.review);
    return this.request({ base, head, commit, mode });
  }

  request(work: Pick<MergeRequest, "base" | "head" | "commit" | "mode">): MergeRequest {
    return {
      ...work,
      projectDir: this.project,
      reviewGitDir: this.review,
      message: "Do the work\n\nIn two paragraphs.",
      trailers: ["AgentBox-Box: team-app", "AgentBox-Agent: claude 2.1.197"],
      author: "Claude <claude@example.com>",
    };
  }

  async merged(request: MergeRequest): Promise<MergeRecord> {
    const outcome: MergeOutcome = await this.merges.apply(request);
    if (outcome.outcome !== "merged")
      throw new AgentBoxError("merge.failed", `Expected a merge: ${JSON.stringify(outcome)}`);
    const { commit } = request;
    const rest = { id: 1, box: "team-app", incarnation: "1", commit, atMs: 0, isUndone: false };
    return { ...rest, ...outcome.record, projectDir: request.projectDir };
  }

  /** Everything a person could miss: what git says, the index entry by entry, every file byte for byte. */
  async state(cwd = this.project): Promise<object> {
    const status = ["status", "--porcelain=v2", "--branch", "-z", "--ignored", "--untracked-files=all"];
    return {
      status: this.git(status, cwd),
      index: this.git(["ls-files", "--stage", "-v", "-z"], cwd),
      refs: this.git(["for-each-ref"], cwd),
      files: await this.files(cwd),
    };
  }

  async files(root: string, prefix = ""): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    const at = (path: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
    for (const name of await readdir(at(prefix), { encoding: "buffer" })) {
      const path = `${prefix}${name.toString("latin1")}`;
      if (path === ".git") continue;
      const stat = await lstat(at(path));
      if (stat.isDirectory()) Object.assign(found, await this.files(root, `${path}/`));
      else if (stat.isSymbolicLink()) found[path] = `link ${await readlink(at(path))}`;
      else found[path] = `${stat.mode.toString(8)} ${(await readFile(at(path))).toString("latin1")}`;
    }
    return found;
  }

  async giveTo(uid: number, path = this.project): Promise<void> {
    await chown(path, uid, uid);
    for (const name of await readdir(path, { withFileTypes: true })) {
      if (name.isDirectory()) await this.giveTo(uid, join(path, name.name));
      else execFileSync("chown", ["-h", `${uid}:${uid}`, join(path, name.name)]);
    }
  }

  async remove(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }
}
