/**
 * A git directory of our own beside the person's repository: their objects, index and files, but none of their config,
 * hooks and references. New objects stay in it until they are brought over on purpose, so planning leaves no trace. It
 * belongs to the person and is gone afterwards.
 */
import { chown, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { GitConfig } from "../../host/git.ts";
import { type RunResult, run } from "../../host/run.ts";
import { type GuardedGitOptions, guardedGit, guardedGitOk } from "./guarded-git.ts";
import type { Person } from "./person.ts";

export interface ScratchSpec {
  /** An object store that is read and never written. */
  readonly borrows: string;
  readonly isSha256: boolean;
  readonly person: Person;
  readonly config?: GitConfig;
  /**
   * The parent of the scratch repository; the person must be able to get there. The system's temporary directory by
   * default.
   */
  readonly tempDir?: string | undefined;
}

type ScratchGitOptions = Partial<Pick<GuardedGitOptions, "stdin" | "stdinFd" | "stdoutFd" | "env" | "cwd">>;

export class ScratchRepository implements AsyncDisposable {
  readonly gitDir: string;
  readonly #spec: ScratchSpec;

  private constructor(gitDir: string, spec: ScratchSpec) {
    this.gitDir = gitDir;
    this.#spec = spec;
  }

  static async open(spec: ScratchSpec): Promise<ScratchRepository> {
    const gitDir = await mkdtemp(join(await realpath(spec.tempDir ?? tmpdir()), "agentbox-merge-"));
    const scratch = new ScratchRepository(gitDir, spec);
    try {
      const parts = ["refs", "info", "objects", "objects/info", "objects/pack"];
      for (const part of parts) await mkdir(join(gitDir, part));
      const format = spec.isSha256 ? "1\n[extensions]\n\tobjectformat = sha256" : "0";
      const files = {
        HEAD: "ref: refs/heads/none\n",
        config: `[core]\n\tbare = false\n\trepositoryformatversion = ${format}\n`,
        // Quoted as git quotes names, so that any path is one line of the file.
        "objects/info/alternates": `"${spec.borrows.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`)}"\n`,
      };
      for (const [name, text] of Object.entries(files)) await writeFile(join(gitDir, name), text);
      const { user } = spec.person;
      if (user) {
        const all = [...Object.keys(files), ...parts, "."];
        for (const name of all) await chown(join(gitDir, name), user.uid, user.gid);
      }
      return scratch;
    } catch (error) {
      await scratch[Symbol.asyncDispose]();
      throw error;
    }
  }

  git(args: readonly string[], options: ScratchGitOptions = {}): Promise<RunResult> {
    return guardedGit(args, this.#options(options));
  }

  async ok(args: readonly string[], options: ScratchGitOptions = {}): Promise<string> {
    return await guardedGitOk(args, this.#options(options));
  }

  #options(options: ScratchGitOptions): GuardedGitOptions {
    const { person, config } = this.#spec;
    return { gitDir: this.gitDir, cwd: this.gitDir, person, ...options, ...omitUndefined({ config }) };
  }

  /**
   * Copies a file of the person's with its times; false when it does not exist. SECURITY: by a process with their
   * rights, so a link in its place gives them nothing they could not read.
   */
  async copyIn(file: string, name: string): Promise<boolean> {
    const target = join(this.gitDir, name);
    const { code } = await run(
      ["/bin/cp", "--preserve=timestamps", "--", file, target],
      this.#spec.person.user ?? {},
    );
    return code === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.gitDir, { recursive: true, force: true });
  }
}
