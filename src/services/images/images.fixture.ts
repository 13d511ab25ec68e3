/** An engine in memory that reads what it is given, and hosts with everything an image is made from. */
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { systemClock } from "../../host/clock.ts";
import { run } from "../../host/run.ts";
import type { BuildOptions, ImageRecipe, Images } from "../../ports/images.ts";
import { digestOf, imageArchive, imageConfig } from "./archive.ts";
import type { EngineImage, ImageEngine } from "./engine.ts";
import { openImages } from "./index.ts";
import { tar } from "./tar.ts";

interface Loaded extends EngineImage {
  readonly layers: readonly string[];
}

export class MemoryEngine implements ImageEngine {
  readonly images = new Map<string, Loaded>();
  loads = 0;
  pulls: string[] = [];
  saved = 0;
  /** The action that replaces a load. */
  failure: Error | undefined;
  base: { reference: string; archive: Buffer } = { reference: "", archive: Buffer.alloc(0) };

  async find(reference: string): Promise<EngineImage | undefined> {
    return this.images.get(reference) ?? [...this.images.values()].find(({ id }) => id === reference);
  }

  async load(archive: Readable, signal: AbortSignal): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk as Buffer);
    this.loads += 1;
    signal.throwIfAborted();
    if (this.failure) throw this.failure;
    const files = await untar(Buffer.concat(chunks));
    const [manifest] = JSON.parse(files.get("manifest.json")!.toString()) as [
      { Config: string; RepoTags: string[]; Layers: string[] },
    ];
    const text = files.get(manifest.Config)!.toString();
    const config = JSON.parse(text) as {
      config: { Labels: Record<string, string> };
      rootfs: { diff_ids: string[] };
    };
    const layers = manifest.Layers.map((name) => sha256(files.get(name)!));
    if (layers.join() !== config.rootfs.diff_ids.join()) throw new TypeError("wrong layers");
    const image = { id: digestOf(text), labels: config.config.Labels, digests: [], bytes: 1, layers };
    for (const tag of manifest.RepoTags) this.images.set(tag, image);
  }

  async save(): Promise<Readable> {
    this.saved += 1;
    return Readable.from([this.base.archive]);
  }

  async pull(reference: string): Promise<void> {
    this.pulls.push(reference);
  }

  async remove(reference: string): Promise<void> {
    this.images.delete(reference);
  }

  /** An image from elsewhere. */
  async plant(reference: string, files: Readonly<Record<string, string>>): Promise<string> {
    const items = Object.entries(files).map(([path, text]) => ({
      kind: "file" as const,
      path,
      isProgram: false,
      bytes: Buffer.byteLength(text),
      content: Readable.from([Buffer.from(text)]),
    }));
    const layer = await collect(tar(items));
    const layers = [{ name: "all", digest: sha256(layer), bytes: layer.length }];
    const config = imageConfig({ layers, env: ["LANG=C.UTF-8"], labels: {} });
    const archive = await collect(
      imageArchive(config, "x", layers, () => Readable.from([layer]) as AsyncIterable<Uint8Array>),
    );
    this.base = { reference, archive };
    const id = digestOf(config);
    this.images.set(reference, { id, labels: {}, digests: [], bytes: 1, layers: [] });
    return id;
  }
}

const sha256 = (bytes: Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

export async function collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** With the system's own tar, so that our writer is not its own judge. */
async function untar(archive: Buffer): Promise<Map<string, Buffer>> {
  const { stdout: names } = await run(["tar", "--list"], { stdin: archive });
  const files = new Map<string, Buffer>();
  for (const name of names.trim().split("\n")) {
    const argv = ["tar", "--extract", "--to-stdout", name] as const;
    const { stdout } = await run(argv, { stdin: archive, encoding: "latin1", maxOutputBytes: 64 << 20 });
    files.set(name, Buffer.from(stdout, "latin1"));
  }
  return files;
}

export interface ImageGround extends AsyncDisposable {
  readonly dir: string;
  readonly engine: MemoryEngine;
  readonly images: Images;
  readonly recipe: ImageRecipe;
  readonly progress: string[];
  readonly options: BuildOptions;
}

export const baseReference = "example.test/base";

/** `salt` changes names, times and modes that must not matter. */
export async function openImageGround({ salt = 0, engine = new MemoryEngine() } = {}): Promise<ImageGround> {
  const dir = await mkdtemp(join(tmpdir(), `abx-images-${"x".repeat(salt)}`));
  const id = await engine.plant(baseReference, { "etc/os": "base", "var/lib/dpkg/status": status });
  const recipe = await makeRecipe(dir, salt, `${baseReference}@${id}`);
  const progress: string[] = [];
  return {
    dir,
    engine,
    recipe,
    progress,
    images: openImages({
      dir: join(dir, "images"),
      isRoot: false,
      env: {},
      clock: systemClock,
      engine: async () => engine,
    }),
    options: { onProgress: (message) => progress.push(message), signal: new AbortController().signal },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

const status = "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36-9\n";

async function makeRecipe(dir: string, salt: number, base: string): Promise<ImageRecipe> {
  const node = join(dir, `node-${salt}`);
  await writeFile(node, "#!node", { mode: salt === 0 ? 0o755 : 0o711 });
  const boxd = join(dir, "boxd");
  const skills = join(dir, `skills-${salt}`);
  const agent = join(dir, "agent");
  const names = ["b.js", "a.js"];
  for (const root of [boxd, skills, agent]) {
    await mkdir(join(root, "deep"), { recursive: true });
    // Another order on disk, and another mode for others.
    for (const name of salt === 0 ? names : names.toReversed()) {
      await writeFile(join(root, name), `content of ${name}`);
      await chmod(join(root, name), salt === 0 ? 0o644 : 0o600);
      await utimes(join(root, name), salt, salt);
    }
    await symlink("../a.js", join(root, "deep", "link.js"));
  }
  return {
    base,
    packages: [],
    tools: { node, boxd },
    agent: { name: "tiny", tool: { version: "1.0.0", digest: `sha256:${"1".repeat(64)}`, dir: agent } },
    skills,
    manifest: `sha256:${"2".repeat(64)}`,
    warnings: [],
  };
}
