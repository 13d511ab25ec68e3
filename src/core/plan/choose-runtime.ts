/** Which runtime a box is made of. A tier that was asked for is had, or the box is refused: never a weaker one. */
import { AgentBoxError } from "../../base/errors.ts";
import { type Isolation, isolationTiers } from "../../contract/box.ts";
import { needsEngine } from "../../contract/exception-words.ts";
import { type ManifestLayer, layerManifest } from "../../manifest/index.ts";
import { manifestDefaults } from "../../manifest/defaults.ts";
import type { Runtime } from "../../ports/runtime.ts";
import type { Runtimes } from "../context.ts";
import { resolveExceptions } from "../trust/security-exceptions.ts";

type Tier = Isolation["tier"];

export async function chooseRuntime(runtimes: Runtimes, layers: readonly ManifestLayer[]): Promise<string> {
  const { name, tier, image, packages } = layerManifest(layers).values.runtime ?? {};
  if (name !== undefined) {
    if (tier !== undefined) await requireTier(runtimes, name, tier);
    return name;
  }
  if (tier !== undefined) return strongest(runtimes, tier);
  const isForEngines =
    image !== undefined || packages !== undefined || resolveExceptions(layers).some(needsEngine);
  return isForEngines ? weakest(runtimes, "container") : manifestDefaults.runtime.name;
}

/** The tier is the runtime's own; what a box asks of it does not change it. */
export const tierOf = (runtime: Runtime): Tier => runtime.isolation({ resources: { required: [] } }).tier;

export const isAtLeast = (tier: Tier, asked: Tier): boolean =>
  isolationTiers.indexOf(tier) >= isolationTiers.indexOf(asked);

/**
 * SECURITY: a caller who may only ask must not choose weaker isolation than the owner's own config does. `layers`
 * includes the caller's values; the config's own runtime counts even where it is not ready, because then no weaker one
 * will do.
 */
export async function isWeakerThanOwn(
  runtimes: Runtimes,
  layers: readonly ManifestLayer[],
  asked: string,
): Promise<boolean> {
  const own = layers.filter(({ source }) => source !== "manifest" && source !== "flag");
  const { name, tier } = layerManifest(own).values.runtime ?? {};
  if (name === asked) return false;
  const wanted = tier ?? (name === undefined ? "namespaces" : tierOf(await runtimes.get(name)));
  return !isAtLeast(tierOf(await runtimes.get(asked)), wanted);
}

async function requireTier(runtimes: Runtimes, name: string, asked: Tier): Promise<void> {
  const tier = tierOf(await runtimes.requireReady(name));
  if (isAtLeast(tier, asked)) return;
  const [fit] = await listReady(runtimes, asked);
  throw refusal(
    `The runtime "${name}" has the isolation tier ${tier}, and ${asked} was asked for.`,
    fit === undefined ? nothingReady : `Use the one that is ready here and has it: --runtime ${fit.name}`,
    { runtime: name, tier, asked },
  );
}

const strongest = async (runtimes: Runtimes, asked: Tier): Promise<string> =>
  (await requireSome(runtimes, asked)).at(-1)!.name;

const weakest = async (runtimes: Runtimes, asked: Tier): Promise<string> =>
  (await requireSome(runtimes, asked))[0]!.name;

async function requireSome(runtimes: Runtimes, asked: Tier): Promise<readonly ReadyRuntime[]> {
  const ready = await listReady(runtimes, asked);
  if (ready.length > 0) return ready;
  throw refusal(`No runtime that is ready here has the isolation tier ${asked}.`, nothingReady, { asked });
}

const nothingReady = "Look at what is missing for one that has it: agentbox doctor";

interface ReadyRuntime {
  readonly name: string;
  readonly tier: Tier;
}

/** Weakest first. */
async function listReady(runtimes: Runtimes, asked: Tier): Promise<readonly ReadyRuntime[]> {
  const found = await Promise.all(
    runtimes.names.map(async (name): Promise<ReadyRuntime[]> => {
      // One that is not there is no reason to look no further.
      const runtime = await runtimes.requireReady(name).catch(() => undefined);
      return runtime === undefined ? [] : [{ name, tier: tierOf(runtime) }];
    }),
  );
  return found
    .flat()
    .filter(({ tier }) => isAtLeast(tier, asked))
    .sort((a, b) => isolationTiers.indexOf(a.tier) - isolationTiers.indexOf(b.tier));
}

const refusal = (message: string, hint: string, facts: Record<string, unknown>): AgentBoxError =>
  new AgentBoxError("policy.unenforceable", message, { hint, facts });
