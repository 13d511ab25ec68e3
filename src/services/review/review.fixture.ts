/** A project and a box's clone of it, made with plain git on the spot; and bundles no git would write. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import { omitUndefined } from "../../base/omit-undefined.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A directory that is gone when the test is over. */
export class Scene implements Disposable {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), "ab-review-")));
  #serial = 0;

  fresh(name: string): string {
    return join(this.dir, `${name}-${++this.#serial}`);
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Plain git, as a person or an agent would run it: with everything on. */
  git(cwd: string, args: readonly string[], input?: string | Uint8Array): string {
    return this.gitBytes(cwd, args, input).toString();
  }

  gitBytes(cwd: string, args: readonly string[], input?: string | Uint8Array): Buffer {
    const identity = ["user.name=An Agent", "user.email=agent@example.com", "protocol.file.allow=always"];
    return execFileSync("git", [...identity.flatMap((pair) => ["-c", pair]), ...args], {
      cwd,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: this.dir, GIT_CONFIG_NOSYSTEM: "1" },
      stdio: ["pipe", "pipe", "pipe"],
      maxBuffer: 1 << 30,
      ...omitUndefined({ input }),
    });
  }

  project(files: Files = { "a.txt": "one\n" }, format = "sha1"): string {
    const dir = this.fresh("project");
    mkdirSync(dir);
    this.git(dir, ["init", "-q", "-b", "main", `--object-format=${format}`]);
    this.write(dir, files);
    this.commit(dir, "first");
    return dir;
  }

  clone(project: string): string {
    const dir = this.fresh("box");
    this.git(this.dir, ["clone", "-q", "--no-local", project, dir]);
    return dir;
  }

  write(dir: string, files: Files): void {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), content);
    }
  }

  commit(dir: string, message: string): string {
    this.git(dir, ["add", "-A"]);
    this.git(dir, ["commit", "-q", "--allow-empty", "-m", message]);
    return this.head(dir);
  }

  head(dir: string): string {
    return this.git(dir, ["rev-parse", "HEAD"]).trim();
  }

  /** The same as the script in a box: a commit of everything, as a bundle. */
  snapshot(box: string, have: readonly string[]): string {
    this.git(box, ["add", "-A"]);
    const tree = this.git(box, ["write-tree"]).trim();
    const parent = this.git(box, ["rev-parse", "HEAD"]).trim();
    const commit = this.git(box, ["commit-tree", tree, "-p", parent, "-m", "checkpoint"]).trim();
    return this.bundleOf(box, commit, have);
  }

  bundleOf(box: string, commit: string, have: readonly string[]): string {
    this.git(box, ["update-ref", "refs/agentbox/snapshot", commit]);
    const known = have.filter((id) => {
      try {
        this.git(box, ["cat-file", "-e", id]);
        return true;
      } catch {
        return false;
      }
    });
    const file = this.fresh("bundle");
    this.git(box, ["bundle", "create", "-q", file, "refs/agentbox/snapshot", ...known.map((id) => `^${id}`)]);
    return file;
  }

  /** A bundle of these objects, unchecked. */
  crafted(pack: CraftedPack, header: string): string {
    const file = this.fresh("crafted");
    writeFileSync(file, Buffer.concat([Buffer.from(header), pack.bytes()]));
    return file;
  }

  /** A bundle whose snapshot has exactly this tree. */
  ofTree(pack: CraftedPack, tree: string): string {
    const commit = pack.commit(tree);
    return this.crafted(pack, `# v2 git bundle\n${commit} refs/agentbox/snapshot\n\n`);
  }

  /** A program that leaves a mark when it runs. */
  canary(): { readonly command: string; hasRun(): boolean; reset(): void } {
    const mark = this.fresh("mark");
    const command = this.fresh("canary");
    writeFileSync(command, `#!/bin/sh\necho ran >> ${mark}\ncat\nexit 0\n`, { mode: 0o755 });
    return {
      command,
      hasRun: () => existsSync(mark),
      reset: () => rmSync(mark, { force: true }),
    };
  }
}

const types = { commit: 1, tree: 2, blob: 3, tag: 4, refDelta: 7 } as const;

export type TreeEntry = readonly [mode: string, name: string | Uint8Array, id: string];

/** Builds a pack object by object, without a check. */
export class CraftedPack {
  readonly #objects: Buffer[] = [];

  blob(content: string | Uint8Array): string {
    return this.add("blob", Buffer.from(content));
  }

  tree(...entries: readonly TreeEntry[]): string {
    const parts = entries.flatMap(([mode, name, id]) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(id, "hex"),
    ]);
    return this.add("tree", Buffer.concat(parts));
  }

  commit(tree: string, ...parents: readonly string[]): string {
    const lines = [`tree ${tree}`, ...parents.map((id) => `parent ${id}`)];
    const who = "An Agent <agent@example.com> 1700000000 +0000";
    return this.add("commit", Buffer.from(`${lines.join("\n")}\nauthor ${who}\ncommitter ${who}\n\nwork\n`));
  }

  add(type: "commit" | "tree" | "blob" | "tag", content: Buffer): string {
    this.#objects.push(Buffer.concat([sizeHeader(types[type], content.length), deflateSync(content)]));
    return createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex");
  }

  /** A difference to another object, by its id. */
  delta(base: string, delta: Buffer): void {
    const head = sizeHeader(types.refDelta, delta.length);
    this.#objects.push(Buffer.concat([head, Buffer.from(base, "hex"), deflateSync(delta)]));
  }

  bytes(): Buffer {
    const head = Buffer.from("PACK\0\0\0\u0002\0\0\0\0", "latin1");
    head.writeUInt32BE(this.#objects.length, 8);
    const body = Buffer.concat([head, ...this.#objects]);
    return Buffer.concat([body, createHash("sha1").update(body).digest()]);
  }
}

function sizeHeader(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest % 128);
  }
  return Buffer.from(bytes);
}

/** A size as differences have it. */
export function deltaSize(size: number): number[] {
  const bytes: number[] = [];
  for (let rest = size; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 0x80);
  }
}
