/**
 * One review repository. Everything is read from objects that were checked when they were taken; no file is checked
 * out, and no program but git runs.
 */
import { join } from "node:path";
import type { KeyedMutex } from "../../base/mutex.ts";
import { type Change, type ChangeTotals, FileMode } from "../../contract/review/change.ts";
import { pathKind } from "../../host/files.ts";
import type {
  HistoryCommit,
  IncomingBundle,
  ReviewDirectoryEntry,
  ReviewEntry,
  ReviewRepository,
  TakenBundle,
} from "../../ports/review.ts";
import { splitBytes } from "./byte-lines.ts";
import { listChanges, plainDiff } from "./change-list.ts";
import { BundleFile } from "./incoming-bundle.ts";
import { BlobReader } from "./blob-reader.ts";
import { type ReviewGit, requireId } from "./review-git.ts";
import { takeBundle } from "./take-bundle.ts";

/** The ref by which a box finds a checkpoint in a bundle of ours. */
const checkpointRef = "refs/agentbox/checkpoint";
const maxCommits = 10_000;
/** Judged one by one; more are said to be unjudged. */
const maxHistory = 500;

/** Git knows it without having it. */
const emptyTree = {
  sha1: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  sha256: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
} as const;

type Commit = Awaited<ReturnType<ReviewRepository["commits"]>>[number];

export class BareReview implements ReviewRepository {
  readonly gitDir: string;
  readonly base: string;
  readonly #git: ReviewGit;
  readonly #blobs: BlobReader;
  /** Shared by all that are open: the same repository may be open several times. */
  readonly #taking: KeyedMutex;

  constructor(git: ReviewGit, base: string, taking: KeyedMutex) {
    this.gitDir = git.gitDir;
    this.base = base;
    this.#git = git;
    this.#taking = taking;
    this.#blobs = new BlobReader(git);
  }

  receive(maxBytes = Number.POSITIVE_INFINITY): Promise<IncomingBundle> {
    return BundleFile.create(this.gitDir, Math.min(maxBytes, this.#git.limits.maxBytes));
  }

  async have(): Promise<readonly string[]> {
    const refs = await this.#git.text(["for-each-ref", "--format=%(objectname)", "refs/agentbox/"]);
    return [...new Set(refs.split("\n").filter((line) => line !== ""))];
  }

  take(bundleFile: string, number: number, maxBytes?: number): Promise<TakenBundle> {
    return this.#taking.run(this.gitDir, async () =>
      takeBundle(this.#git, {
        bundleFile,
        number,
        maxBytes,
        base: this.base,
        have: await this.have(),
        format: formatOf(this.base),
      }),
    );
  }

  async changes(from: string, to: string, limit?: number): Promise<readonly Change[]> {
    const range = { from: requireId(from), to: requireId(to), limit: limit ?? this.#git.limits.maxChanges };
    return listChanges(this.#git, this.#blobs, range);
  }

  async totals(from: string, to: string): Promise<ChangeTotals> {
    const args = ["diff-tree", "--shortstat", ...plainDiff, requireId(from), requireId(to), "--"];
    const text = await this.#git.text(args);
    const count = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
    return {
      files: count(/(\d+) files? changed/),
      added: count(/(\d+) insertions?\(\+\)/),
      deleted: count(/(\d+) deletions?\(-\)/),
    };
  }

  async *patch(
    from: string,
    to: string,
    options: { paths?: readonly string[]; contextLines?: number; isBinary?: boolean } = {},
  ): AsyncGenerator<Uint8Array, void> {
    const { paths = [], contextLines = 3, isBinary = false } = options;
    const context = Math.min(Math.max(Math.trunc(contextLines), 0), 1_000_000);
    const form = ["-p", "--full-index", `-U${context}`, "--src-prefix=a/", "--dst-prefix=b/"];
    const range = [requireId(from), requireId(to)];
    // SECURITY: paths come after "--" and are taken literally, also with a hyphen at the start.
    const args = [...form, ...(isBinary ? ["--binary"] : []), ...plainDiff, ...range, "--", ...paths];
    yield* this.#git.stream(["diff-tree", ...args], { timeoutMs: this.#git.limits.takeTimeoutMs });
  }

  async blob(id: string, maxBytes: number): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
    return this.#blobs.read(requireId(id), maxBytes);
  }

  async fileAt(commit: string, path: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const id = path === "" ? undefined : await this.#idAt(commit, path);
    if (id === undefined || (await this.#blobs.sizeOf(id)) === undefined) return undefined;
    return (await this.#blobs.read(id, maxBytes)).bytes;
  }

  async directory(
    commit: string,
    path: string,
    limit: number,
  ): Promise<{ entries: ReviewDirectoryEntry[]; total: number } | undefined> {
    const listing = await this.#listing(commit, path);
    if (listing === undefined) return undefined;
    const entries: ReviewDirectoryEntry[] = [];
    let total = 0;
    for await (const entry of listing) {
      total += 1;
      if (entries.length < limit) entries.push(directoryEntry(entry));
    }
    return { entries, total };
  }

  async entry(commit: string, path: string): Promise<ReviewDirectoryEntry | undefined> {
    const at = path.lastIndexOf("/");
    const listing = await this.#listing(commit, path.slice(0, Math.max(0, at)));
    for await (const line of listing ?? []) {
      const entry = directoryEntry(line);
      if (entry.name === path.slice(at + 1)) return entry;
    }
    return undefined;
  }

  async #listing(commit: string, path: string): Promise<AsyncIterable<Buffer> | undefined> {
    const id = path === "" ? requireId(commit) : await this.#idAt(commit, path);
    const tree = id === undefined ? undefined : await this.#resolve(`${id}^{tree}`);
    if (tree === undefined) return undefined;
    return splitBytes(this.#git.stream(["ls-tree", "-l", "-z", "--full-tree", tree]), "\0");
  }

  /** The object that a commit has under a path. */
  async #idAt(commit: string, path: string): Promise<string | undefined> {
    // No name that git has ends with a slash or holds a NUL; git would look for something else.
    if (/\0|^\.{0,2}\/|\/$/.test(path)) return undefined;
    return this.#resolve(`${requireId(commit)}:${path}`);
  }

  async #resolve(name: string): Promise<string | undefined> {
    const found = await this.#git.run(["rev-parse", "--verify", "--quiet", name]);
    return found.code === 0 ? requireId(found.stdout.trim()) : undefined;
  }

  async *paths(commit: string): AsyncGenerator<string, void> {
    const args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", requireId(commit)];
    for await (const path of splitBytes(this.#git.stream(args), "\0")) yield path.toString("utf8");
  }

  async *entries(commit: string): AsyncGenerator<ReviewEntry, void> {
    const args = ["ls-tree", "-r", "-z", "--full-tree", requireId(commit)];
    for await (const entry of splitBytes(this.#git.stream(args), "\0")) {
      const end = entry.indexOf("\t");
      const [mode = "", , id = ""] = entry.toString("latin1", 0, end).split(" ");
      yield { path: entry.toString("utf8", end + 1), mode: modeOf(mode), id };
    }
  }

  async commits(base: string, head: string): Promise<readonly Commit[]> {
    const form = ["--reverse", "--topo-order", "--no-show-signature", "-z", "--format=%H%n%an <%ae>%n%s"];
    const range = [requireId(head), `^${requireId(base)}`];
    const text = await this.#git.text(["log", ...form, `--max-count=${maxCommits}`, ...range, "--"]);
    return text
      .split("\0")
      .filter((record) => record !== "")
      .map((record) => {
        const [id = "", author = "", subject = ""] = record.split("\n");
        return { id, author, subject };
      });
  }

  async history(
    base: string,
    head: string,
  ): Promise<{ readonly commits: readonly HistoryCommit[]; readonly isCut: boolean }> {
    const form = ["--reverse", "--topo-order", "--first-parent", "--no-show-signature", "--no-mailmap", "-z"];
    const format = "--format=%H%n%P%n%e%n%an <%ae>%n%B";
    const range = [requireId(head), `^${requireId(base)}`];
    const count = await this.#git.text(["rev-list", "--count", "--first-parent", ...range, "--"]);
    const skipped = Math.max(0, Number(count) - maxHistory);
    // The oldest ones, because --max-count takes the newest.
    const args = ["log", ...form, format, `--skip=${skipped}`, ...range, "--"];
    const records = (await this.#git.text(args)).split("\0").filter((record) => record !== "");
    const commits = records.map((record) => {
      const [id = "", parents = "", encoding = "", author = "", ...message] = record.split("\n");
      const from = parents.split(" ")[0] || emptyTree[formatOf(this.base)];
      return { id, from, encoding, author, message: message.join("\n").trimEnd() };
    });
    return { commits, isCut: skipped > 0 };
  }

  async treeOf(commit: string): Promise<string> {
    return (await this.#git.text(["rev-parse", "--verify", `${requireId(commit)}^{tree}`])).trim();
  }

  /** Written by ourselves, because git puts only references into a bundle, and this is not worth making one. */
  async *bundle(commit: string, { isWhole = false } = {}): AsyncGenerator<Uint8Array, void> {
    const id = requireId(commit);
    const isSha256 = formatOf(this.base) === "sha256";
    const signature = isSha256 ? "# v3 git bundle\n@object-format=sha256\n" : "# v2 git bundle\n";
    const known = !isWhole && (await this.#isBaseBorrowed()) ? this.base : undefined;
    yield Buffer.from(`${signature}${known ? `-${known}\n` : ""}${id} ${checkpointRef}\n\n`);
    const args = ["pack-objects", "--quiet", "--revs", "--stdout", "--delta-base-offset"];
    const stdin = `${id}\n${known ? `^${known}\n` : ""}`;
    yield* this.#git.stream(args, { stdin, timeoutMs: this.#git.limits.takeTimeoutMs });
  }

  /** A base that we have made is a file here, and no box has it; one of the project's is in every clone. */
  async #isBaseBorrowed(): Promise<boolean> {
    const file = join(this.gitDir, "objects", this.base.slice(0, 2), this.base.slice(2));
    return (await pathKind(file)) === undefined;
  }
}

/** Old histories have files that their group may write; git takes them for ordinary ones. */
const modeOf = (mode: string): FileMode =>
  FileMode.options.find((known) => known === mode) ?? (mode.startsWith("1007") ? "100755" : "100644");

const formatOf = (id: string): "sha1" | "sha256" => (id.length === 64 ? "sha256" : "sha1");

/** `mode type id size<TAB>name`; what is no file has `-` for a size. */
function directoryEntry(entry: Buffer): ReviewDirectoryEntry {
  const end = entry.indexOf("\t");
  const [mode = "", type, id = "", size] = entry.toString("latin1", 0, end).split(/ +/);
  const kind = type === "tree" ? "dir" : type !== "blob" ? "other" : mode === "120000" ? "symlink" : "file";
  return {
    name: entry.toString("utf8", end + 1),
    kind,
    isExecutable: mode === "100755",
    id,
    size: Number(size) || 0,
  };
}
