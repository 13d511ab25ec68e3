/**
 * A base from elsewhere: taken out of the engine layer by layer, each compared with its digest. Of its settings only
 * the environment is kept.
 */
import { createReadStream } from "node:fs";
import { lstat, open, readFile, rm } from "node:fs/promises";
import { join, normalize } from "node:path";
import { z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import { removeTree } from "../../host/files.ts";
import { run } from "../../host/run.ts";
import type { Base } from "./base.ts";
import type { EngineImage, ImageEngine } from "./engine.ts";
import { type LayerStore, interrupted } from "./layer-store.ts";
import { readDpkgStatus } from "./packages.ts";

export interface ForeignOptions {
  readonly layers: LayerStore;
  readonly engine: ImageEngine;
  readonly onProgress: (message: string) => void;
  readonly signal: AbortSignal;
}

const Saved = z.array(z.object({ Config: z.string(), Layers: z.array(z.string()) })).length(1);
const Config = z.object({
  architecture: z.string(),
  rootfs: z.object({ diff_ids: z.array(z.string().regex(/^sha256:[0-9a-f]{64}$/)).min(1) }),
  config: z.object({ Env: z.array(z.string()).nullish() }).nullish(),
});

/** In the engine, or pulled. An image without a registry of its own is known by its id alone. */
export async function findForeign(reference: string, options: ForeignOptions): Promise<EngineImage> {
  const digest = reference.split("@")[1];
  const { engine, onProgress, signal } = options;
  const look = async () =>
    (await engine.find(reference)) ?? (digest === undefined ? undefined : await engine.find(digest));
  const present = await look();
  if (present) return present;
  onProgress(`Pulling ${reference}`);
  await engine.pull(reference, onProgress, signal);
  const pulled = await look();
  if (pulled) return pulled;
  throw new AgentBoxError("image.not_found", `The engine has pulled ${reference} and does not have it.`, {
    hint: "Check the name and the digest of runtime.image.",
  });
}

export async function takeForeignBase(reference: string, options: ForeignOptions): Promise<Base> {
  const { id } = await findForeign(reference, options);
  options.onProgress(`Reading the layers of ${reference}`);
  const scratch = await options.layers.scratch();
  try {
    await unpack(await options.engine.save(id), scratch, options.signal);
    const saved = Saved.parse(
      JSON.parse(await readFile(await plainFile(scratch, "manifest.json"), "utf8")),
    )[0]!;
    const config = Config.parse(JSON.parse(await readFile(await plainFile(scratch, saved.Config), "utf8")));
    const digests = config.rootfs.diff_ids;
    const layers: Base["layers"] = [];
    let status = "";
    for (const [index, name] of saved.Layers.entries()) {
      const file = await plainFile(scratch, name);
      const layer = await options.layers.keep(digests[index]!, createReadStream(file), options.signal);
      if (layer.digest !== digests[index]) throw wrongLayer(reference);
      layers.push(layer);
      status = (await readStatus(file)) ?? status;
    }
    if (layers.length !== digests.length) throw wrongLayer(reference);
    return { name: reference, layers, env: config.config?.Env ?? [], packages: readDpkgStatus(status) };
  } catch (error) {
    throw error instanceof z.ZodError || error instanceof SyntaxError ? wrongLayer(reference) : error;
  } finally {
    await removeTree(scratch);
  }
}

/** SECURITY: only names and contents; no owner, mode or device of the archive takes effect on the host. */
async function unpack(archive: AsyncIterable<Uint8Array>, dir: string, signal: AbortSignal): Promise<void> {
  const file = join(dir, ".saved.tar");
  {
    await using output = await open(file, "wx", 0o600);
    for await (const chunk of archive) {
      if (signal.aborted) throw interrupted();
      await output.writeFile(chunk);
    }
  }
  const argv = [
    "tar",
    "--extract",
    "--no-same-owner",
    "--no-same-permissions",
    "--file",
    file,
    "--directory",
    dir,
  ];
  const { code } = await run(argv as [string, ...string[]], { timeoutMs: 600_000, signal });
  await rm(file, { force: true });
  if (code !== 0)
    throw new AgentBoxError("image.build_failed", "The engine's copy of the base cannot be read.");
}

/** SECURITY: names come from the archive; neither `..` nor a link leads out of the directory. */
async function plainFile(dir: string, name: string): Promise<string> {
  const path = join(dir, normalize(`/${name}`));
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile()) return path;
  throw new AgentBoxError("image.build_failed", "The engine's copy of the base lacks a part that it names.");
}

async function readStatus(layer: string): Promise<string | undefined> {
  const argv = ["tar", "--extract", "--to-stdout", "--file", layer, "var/lib/dpkg/status"];
  const { code, stdout } = await run(argv as [string, ...string[]], { maxOutputBytes: 32 << 20 });
  return code === 0 && stdout !== "" ? stdout : undefined;
}

const wrongLayer = (reference: string): AgentBoxError =>
  new AgentBoxError("image.build_failed", `What the engine gave for ${reference} is not a whole image.`, {
    hint: "Remove it from the engine and pull it again.",
  });
