/** From a recipe to the layers of its image and the digest of everything that goes into it. */
import { createHash } from "node:crypto";
import { AgentBoxError } from "../../base/errors.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import type { ImageRecipe, ImageServer } from "../../ports/images.ts";
import { digestOf } from "./archive.ts";
import type { Base } from "./base.ts";
import type { DigestMemo } from "./digest-memo.ts";
import { type TarItem, tar } from "./tar.ts";
import { treeItems } from "./tree-layer.ts";

/** One layer of ours, not yet made. */
export interface PlannedLayer {
  readonly name: string;
  /** Names what it is made from. */
  readonly key: string;
  content(): AsyncIterable<Uint8Array>;
}

export interface ImagePlan {
  readonly inputs: string;
  readonly layers: readonly PlannedLayer[];
  readonly digests: OwnDigests;
}

/** Of our own layers, by name. */
export interface OwnDigests {
  readonly node: string;
  readonly boxd: string;
  readonly skills?: string;
}

/** Raised when the form of our own layers changes: an image of before is then another image. */
const format = 1;

export async function planImage(recipe: ImageRecipe, base: Base, memo: DigestMemo): Promise<ImagePlan> {
  requirePortableNode();
  const node = planned("node", copied(recipe.tools.node, boxPaths.node));
  const boxd = planned("boxd", boxdItems(recipe.tools.boxd));
  const skills =
    recipe.skills === undefined ? undefined : planned("skills", copied(recipe.skills, boxPaths.skills));
  const { agent, servers = [] } = recipe;
  const digests = {
    node: await memo.of(recipe.tools.node, () => digestOfLayer(node)),
    boxd: await digestOfLayer(boxd),
    ...(skills === undefined ? {} : { skills: await digestOfLayer(skills) }),
  };
  const inputs = digestOf(
    JSON.stringify({
      format,
      base: base.layers.map(({ digest }) => digest),
      env: base.env,
      ...digests,
      agent: { name: agent.name, version: agent.tool?.version, digest: agent.tool?.digest },
      manifest: recipe.manifest,
      ...(servers.length === 0 ? {} : { servers: servers.map(({ name, digest }) => ({ name, digest })) }),
    }),
  );
  return {
    inputs,
    digests,
    layers: [
      { ...node, key: `node ${digests.node}` },
      { ...boxd, key: `boxd ${digests.boxd}` },
      ...agentLayer(recipe),
      ...servers.map(serverLayer),
      ...(skills === undefined ? [] : [{ ...skills, key: `skills ${digests.skills}` }]),
    ],
  };
}

type Unkeyed = Omit<PlannedLayer, "key">;

const planned = (name: string, items: () => AsyncGenerator<TarItem>): Unkeyed => ({
  name,
  content: () => tar(items()),
});

const copied = (source: string, target: string) => () => treeItems({ source, target });

/** boxd, and the places at which a runtime puts what belongs to one box. */
const boxdItems = (source: string) =>
  async function* (): AsyncGenerator<TarItem> {
    yield { kind: "dir", path: "home" };
    yield { kind: "dir", path: boxPaths.home.slice(1) };
    yield* copied(source, `${boxPaths.tools}/boxd`)();
    yield { kind: "dir", path: boxPaths.workspace.slice(1) };
  };

function agentLayer({ agent: { name, tool } }: ImageRecipe): PlannedLayer[] {
  if (!tool) return [];
  const layer = planned(`agent ${name}`, copied(tool.dir, `${boxPaths.agents}/${name}`));
  return [{ ...layer, key: `agent ${name} ${tool.digest}` }];
}

function serverLayer({ name, digest, dir }: ImageServer): PlannedLayer {
  return { ...planned(`mcp ${name}`, copied(dir, `${boxPaths.mcp}/${name}`)), key: `mcp ${name} ${digest}` };
}

async function digestOfLayer({ content }: Unkeyed): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of content()) hash.update(chunk);
  return `sha256:${hash.digest("hex")}`;
}

/** A Node that is spread over the host's libraries is no single file that could be put into another system. */
function requirePortableNode(): void {
  const { node_shared: isSpread } = process.config.variables as { readonly node_shared?: unknown };
  if (isSpread !== true && isSpread !== "true") return;
  throw new AgentBoxError("image.build_failed", "This host's Node needs libraries that no image has.", {
    hint: "Run AgentBox with a Node from nodejs.org, and build again.",
  });
}
