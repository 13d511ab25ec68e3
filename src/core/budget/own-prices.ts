import type { ManifestLayer } from "../../manifest/index.ts";
import type { Using } from "../using.ts";
import { readLayers } from "../manifest/read-layers.ts";

/** The person's own prices, from the user config among the layers. */
export function takePrices(core: Using<"budgets">, layers: readonly ManifestLayer[]): void {
  const own = layers.find(({ source }) => source === "user config");
  core.budgets.setPrices(own?.values.model?.prices ?? {});
}

/** For boxes that kept running without the daemon, before another is made. */
export async function readOwnPrices(
  core: Using<"agents" | "budgets" | "host" | "presets" | "runtimes">,
): Promise<void> {
  takePrices(core, (await readLayers(core, {})).inputs.layers);
}
