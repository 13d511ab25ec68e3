import { execFileSync, spawn } from "node:child_process";
import { createCipheriv } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";

export interface LargeRepository {
  readonly files: number;
  /** Of every file, on average; what is in them cannot be compressed. */
  readonly fileBytes: number;
  /** Commits after the first, each of which changes a few files. */
  readonly commits: number;
}

/** About 1 GB in 50,000 files with some history. */
export const oneGigabyte: LargeRepository = { files: 50_000, fileBytes: 20_000, commits: 500 };

const filesPerDirectory = 100;
const changesPerCommit = 5;
const path = (file: number): string =>
  `d${Math.floor(file / filesPerDirectory / 25)}/e${Math.floor(file / filesPerDirectory)}/file-${file}.bin`;

/** Makes a repository with its files checked out, the same one every time, through one `git fast-import`. */
export async function makeLargeRepository(target: string, shape: LargeRepository): Promise<void> {
  mkdirSync(target, { recursive: true });
  const git = (...args: string[]) => execFileSync("git", ["-C", target, ...args], { stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Bench");
  git("config", "user.email", "bench@example.com");
  const importer = spawn("git", ["-C", target, "-c", "core.compression=1", "fast-import", "--quiet"], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  const done = once(importer, "close");
  for (const chunk of importStream(shape)) {
    if (!importer.stdin.write(chunk)) await once(importer.stdin, "drain");
  }
  importer.stdin.end();
  const [code] = (await done) as [number];
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  git("reset", "-q", "--hard", "main");
}

function* importStream({ files, fileBytes, commits }: LargeRepository): Generator<Buffer> {
  // A stream cipher of nothing: fast, the same every time, and as random as anything to a compressor.
  const noise = createCipheriv("aes-128-ctr", Buffer.alloc(16, 1), Buffer.alloc(16));
  const content = (file: number) => noise.update(Buffer.alloc(fileBytes / 2 + ((file * 7919) % fileBytes)));
  const change = function* (file: number): Generator<Buffer> {
    const bytes = content(file);
    yield Buffer.from(`M 100644 inline ${path(file)}\ndata ${bytes.length}\n`);
    yield bytes;
    yield Buffer.from("\n");
  };
  const commit = (number: number) =>
    Buffer.from(
      `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_700_000_000 + number} +0000\ndata 4\nwork\n`,
    );
  yield commit(0);
  for (let file = 0; file < files; file++) yield* change(file);
  for (let number = 1; number <= commits; number++) {
    yield commit(number);
    for (let n = 0; n < changesPerCommit; n++) yield* change((number * 104_729 + n * 7) % files);
  }
}
