import { readFile } from "node:fs/promises";

/**
 * Whether a box with a person in front of it asks about hosts that no rule names: yes, unless the manifest has a
 * network section or the person's own config has decided. What cannot be read decides nothing here; the daemon
 * reads it again and refuses it.
 */
export async function asksByDefault(manifest: string | undefined, userConfig: string): Promise<boolean> {
  if (manifest !== undefined && (await networkOf(manifest)) !== undefined) return false;
  const config = await readFile(userConfig, "utf8").catch(() => undefined);
  const own = config === undefined ? undefined : await networkOf(config);
  return own?.["default"] === undefined;
}

async function networkOf(text: string): Promise<Record<string, unknown> | undefined> {
  // Most files do not have the word, and the parser costs start-up time.
  if (!text.includes("network")) return undefined;
  const { parse } = await import("smol-toml");
  try {
    const { network } = parse(text);
    return typeof network === "object" ? (network as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
