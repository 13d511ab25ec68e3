/** The image itself: its settings, whose digest is its name, and the archive that an engine takes. Pure but for layers. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Layer } from "./layer-store.ts";
import { type TarItem, tar } from "./tar.ts";

export interface NamedLayer extends Layer {
  /** The content of the layer: `base`, `node`, `boxd`, `agent claude`, `skills`. */
  readonly name: string;
}

export interface ImageContent {
  readonly layers: readonly NamedLayer[];
  readonly env: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
const epoch = "1970-01-01T00:00:00Z";
const defaultEnv = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"];

/**
 * SECURITY: of a foreign base's settings only the variables are here: its entry point, volumes, health check and user
 * would be commands and mounts without an agreement.
 */
export function imageConfig({ layers, env, labels }: ImageContent): string {
  return JSON.stringify({
    architecture: architectures[process.arch] ?? process.arch,
    os: "linux",
    created: epoch,
    config: { Env: env.length > 0 ? env : defaultEnv, Labels: sorted(labels) },
    rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
    history: layers.map(({ name }) => ({ created: epoch, created_by: `agentbox build: ${name}` })),
  });
}

const sorted = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

export const digestOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** A docker-archive. Each layer is in it once, also when two of an image's layers are the same. */
export function imageArchive(
  config: string,
  reference: string,
  layers: readonly Layer[],
  read: (layer: Layer) => AsyncIterable<Uint8Array>,
): Readable {
  const hex = (digest: string): string => digest.slice("sha256:".length);
  const configName = `${hex(digestOf(config))}.json`;
  const manifest = [
    {
      Config: configName,
      RepoTags: [reference],
      Layers: layers.map(({ digest }) => `${hex(digest)}.tar`),
    },
  ];
  const once = [...new Map(layers.map((layer) => [layer.digest, layer])).values()];
  const items: TarItem[] = [
    textFile(configName, config),
    ...once.map((layer) => ({
      kind: "file" as const,
      path: `${hex(layer.digest)}.tar`,
      isProgram: false,
      bytes: layer.bytes,
      content: read(layer),
    })),
    textFile("manifest.json", JSON.stringify(manifest)),
  ];
  return Readable.from(tar(items), { objectMode: false });
}

function textFile(path: string, text: string): TarItem {
  const content = Buffer.from(text);
  return { kind: "file", path, isProgram: false, bytes: content.length, content: Readable.from([content]) };
}
