/**
 * Builds images and keeps them: `<dir>/layers`, `<dir>/bases` and a record for each image. One build at a time, so that
 * two requests for the same are one build and a wait; nothing has a name before it is whole.
 */
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { rememberSuccess } from "../../base/remember-success.ts";
import { KeyedMutex } from "../../base/mutex.ts";
import { type ImageInfo, imageLabels } from "../../contract/image.ts";
import { parseImageReference } from "../../contract/image-reference.ts";
import type { BuildOptions, ImageRecipe, Images } from "../../ports/images.ts";
import { type NamedLayer, imageArchive, imageConfig } from "./archive.ts";
import { type Base, Bases } from "./base.ts";
import { buildDebianBase, debianKey } from "./debian-base.ts";
import { DigestMemo } from "./digest-memo.ts";
import type { ImageEngine } from "./engine.ts";
import { findForeign, takeForeignBase } from "./foreign-base.ts";
import { LayerStore, interrupted } from "./layer-store.ts";
import { type ImagePlan, planImage } from "./plan.ts";
import { ImageRecords } from "./records.ts";
import { writeSbom } from "./sbom.ts";

export { type ImageEngine, imageEngine } from "./engine.ts";

export interface ImagesOptions {
  /** `<home>/images`; nothing of a box reaches in. */
  readonly dir: string;
  readonly isRoot: boolean;
  /** For the proxy that downloads go through. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Asked for when it is needed: a host without an engine has no images and needs none. */
  readonly engine: () => Promise<ImageEngine>;
}

export const openImages = (options: ImagesOptions): Images => new EngineImages(options);

class EngineImages implements Images {
  readonly #options: ImagesOptions;
  readonly #layers: LayerStore;
  readonly #bases: Bases;
  readonly #records: ImageRecords;
  readonly #memo = new DigestMemo();
  readonly #building = new KeyedMutex();
  readonly #tidyOnce = rememberSuccess(() => this.#layers.tidy());

  constructor(options: ImagesOptions) {
    this.#options = options;
    this.#layers = new LayerStore(join(options.dir, "layers"));
    this.#bases = new Bases(join(options.dir, "bases"));
    this.#records = new ImageRecords(options.dir);
  }

  async requireEngine(): Promise<void> {
    // An engine that was opened once may be gone by now, so it is asked a question.
    await (await this.#options.engine()).find("localhost/agentbox");
  }

  async find(recipe: ImageRecipe): Promise<ImageInfo | undefined> {
    const base = await this.#bases.find(await baseKey(recipe));
    return base && this.#findPlanned(await planImage(recipe, base, this.#memo));
  }

  build(recipe: ImageRecipe, options: BuildOptions) {
    return this.#building.run("", async () => {
      if (options.signal.aborted) throw interrupted();
      await this.#tidyOnce();
      const base = await this.#ensureBase(recipe, options);
      const plan = await planImage(recipe, base, this.#memo);
      const present = options.isFresh ? undefined : await this.#findPlanned(plan);
      if (present) return { image: present, isNew: false };
      return { image: await this.#make(recipe, base, plan, options), isNew: true };
    });
  }

  async resolve(reference: string, options: Pick<BuildOptions, "onProgress" | "signal">): Promise<string> {
    requireReference(reference);
    const engine = await this.#options.engine();
    const { digests, id } = await findForeign(reference, { ...options, layers: this.#layers, engine });
    return digests[0] ?? id;
  }

  list = (): Promise<readonly ImageInfo[]> => this.#records.list();
  sbom = (inputs: string): Promise<string> => this.#records.sbom(inputs);

  remove(inputs: string): Promise<void> {
    return this.#building.run("", async () => {
      const image = await this.#records.find(inputs);
      if (image) await (await this.#options.engine()).remove(image.reference);
      await this.#records.remove(inputs);
    });
  }

  sweep(): Promise<number> {
    return this.#building.run("", async () => {
      const images = await this.#records.list();
      const wanted = new Set(images.flatMap(({ layers }) => layers.map(({ digest }) => digest)));
      await this.#bases.sweep(wanted);
      return this.#layers.sweep(wanted);
    });
  }

  /** Built, and still in the engine as it was: it may have been removed there. */
  async #findPlanned({ inputs }: ImagePlan): Promise<ImageInfo | undefined> {
    const image = await this.#records.find(inputs);
    if (!image) return undefined;
    const found = await (await this.#options.engine()).find(image.id);
    return found?.labels[imageLabels.inputs] === inputs ? image : undefined;
  }

  async #ensureBase(recipe: ImageRecipe, options: BuildOptions): Promise<Base> {
    const key = await baseKey(recipe);
    const known = options.isFresh ? undefined : await this.#bases.find(key);
    if (known && (await this.#hasLayers(known))) return known;
    const { onProgress, signal } = options;
    const { isRoot, env } = this.#options;
    const layers = this.#layers;
    const base =
      recipe.base === undefined
        ? await buildDebianBase(recipe.packages, { layers, isRoot, env, onProgress, signal })
        : await takeForeignBase(recipe.base, {
            layers,
            engine: await this.#options.engine(),
            onProgress,
            signal,
          });
    await this.#bases.keep(key, base);
    return base;
  }

  async #hasLayers(base: Base): Promise<boolean> {
    const found = await Promise.all(base.layers.map((layer) => this.#layers.has(layer)));
    return found.every(Boolean);
  }

  async #make(
    recipe: ImageRecipe,
    base: Base,
    plan: ImagePlan,
    { isFresh, onProgress, signal }: BuildOptions,
  ): Promise<ImageInfo> {
    const layers: NamedLayer[] = base.layers.map((layer) => ({ ...layer, name: "base" }));
    for (const planned of plan.layers) {
      const { name, key } = planned;
      onProgress(`Packing ${name}`);
      const known = isFresh ? undefined : await this.#layers.find(key);
      layers.push({ ...(known ?? (await this.#layers.keep(key, planned.content(), signal))), name });
    }
    const config = imageConfig({ layers, env: base.env, labels: labelsOf(recipe, plan) });
    const reference = referenceOf(recipe, plan);
    onProgress("Giving the image to the engine");
    const engine = await this.#options.engine();
    await engine.load(
      imageArchive(config, reference, layers, (layer) => this.#layers.read(layer)),
      signal,
    );
    const loaded = await engine.find(reference);
    if (loaded?.labels[imageLabels.inputs] !== plan.inputs) throw notLoaded(reference);
    const image = this.#describe(recipe, base, plan, { id: loaded.id, reference, layers });
    await this.#records.keep(image, await writeSbom({ ...plan, base, recipe }));
    return image;
  }

  #describe(
    { packages, manifest, projectDir, warnings, agent }: ImageRecipe,
    base: Base,
    { inputs }: ImagePlan,
    made: Pick<ImageInfo, "id" | "reference"> & { readonly layers: readonly NamedLayer[] },
  ): ImageInfo {
    return {
      inputs,
      id: made.id,
      reference: made.reference,
      agent: agentLabel(agent),
      base: base.name,
      packages: [...packages],
      ...omitUndefined({ manifest, projectDir }),
      bytes: made.layers.reduce((sum, { bytes }) => sum + bytes, 0),
      layers: made.layers.map(({ name, digest, bytes }) => ({ name, digest, bytes })),
      warnings: [...warnings],
      builtAtMs: this.#options.clock.nowMs(),
    };
  }
}

const agentLabel = ({ name, tool }: ImageRecipe["agent"]): string =>
  tool === undefined ? name : `${name}@${tool.version}`;

const labelsOf = ({ agent, manifest }: ImageRecipe, { inputs }: ImagePlan): Record<string, string> => ({
  [imageLabels.inputs]: inputs,
  [imageLabels.agent]: agentLabel(agent),
  ...omitUndefined({ [imageLabels.manifest]: manifest }),
});

/** SECURITY: `localhost/`, because an engine would look for any other name at a registry, where others may own it. */
const referenceOf = ({ agent }: ImageRecipe, { inputs }: ImagePlan): string =>
  `localhost/agentbox/${agent.name.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "")}:${inputs.slice("sha256:".length).slice(0, 12)}`;

async function baseKey({ base, packages }: ImageRecipe): Promise<string> {
  if (base === undefined) return debianKey(packages);
  requireReference(base);
  if (packages.length === 0) return base;
  throw new AgentBoxError("image.invalid", "Debian packages cannot be added to an image that is named.", {
    hint: "Put them into that image, or leave runtime.image out and keep runtime.packages.",
  });
}

function requireReference(reference: string): void {
  if (parseImageReference(reference)) return;
  throw new AgentBoxError(
    "image.invalid",
    `${JSON.stringify(reference.slice(0, 120))} is no name of an image.`,
    {
      hint: "Use a name such as debian:12, or with a digest: name@sha256:…",
    },
  );
}

const notLoaded = (reference: string): AgentBoxError =>
  new AgentBoxError("image.build_failed", `The engine took the image ${reference} and does not have it.`, {
    hint: "Check the engine's disk and log, then build again: agentbox build",
  });
