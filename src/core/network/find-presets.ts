import { coversPort } from "../policy/rule-match.ts";
import { matchesHost, parseHostPattern } from "../../contract/network/host-pattern.ts";
import type { PresetRule } from "../../contract/network/preset.ts";
import type { Using } from "../using.ts";

/** Presets that would open a destination. Those whose tool cannot be asked on this host are left out. */
export async function findPresets(
  core: Using<"presets">,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<readonly string[]> {
  const { presets } = core.ports;
  const found = await Promise.all(
    presets.names.map(async (name) => {
      const rules = await presets.read(name).then(
        (preset) => preset.rules,
        () => [],
      );
      return rules.some((rule) => opens(rule, host, port)) ? name : undefined;
    }),
  );
  return found.filter((name) => name !== undefined);
}

function opens(rule: PresetRule, host: string, port: number): boolean {
  const parsed = parseHostPattern(rule.host);
  return (
    "pattern" in parsed &&
    coversPort({ ports: [...rule.ports], mode: "allow" }, port) &&
    matchesHost(parsed.pattern, host)
  );
}
