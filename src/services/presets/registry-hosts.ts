/**
 * The addresses a tool is configured with, as rules. An address that no rule can open is reported, and never opened by
 * accident.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { parseHostPattern } from "../../contract/network/host-pattern.ts";
import type { PresetHosts, PresetRule } from "../../contract/network/preset.ts";

const schemePorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Throws `policy.invalid` when the tool names no host that can be reached. */
export function hostsFromUrls(preset: string, urls: readonly string[]): PresetHosts {
  const rules = new Map<string, PresetRule>();
  const unusable = new Set<string>();
  for (const text of urls) {
    const destination = serverOf(text);
    if (destination === undefined) continue;
    const parsed = parseHostPattern(destination.host);
    // The host alone is shown: the address may hold a password.
    if ("problem" in parsed) unusable.add(printable(`${destination.host}: ${parsed.reason}`));
    else {
      const { name } = parsed.pattern;
      rules.set(`${name}:${destination.port}`, {
        host: name,
        ports: [destination.port],
        methods: [],
        paths: [],
      });
    }
  }
  if (rules.size > 0) return { name: preset, rules: [...rules.values()], unusable: [...unusable] };
  const [first] = unusable;
  throw new AgentBoxError(
    "policy.invalid",
    first === undefined
      ? `${preset} names no host on this computer that it would fetch from.`
      : `${preset} is configured with a host that no rule can open: ${first}.`,
    {
      hint:
        first === undefined
          ? "Write the hosts in network.allow."
          : "Open its address with [network.exceptions.<name>].",
      facts: { preset },
    },
  );
}

function serverOf(text: string): { host: string; port: number } | undefined {
  try {
    const { protocol, hostname, port } = new URL(
      text.replace(/^(?:sparse|registry|mirror)\+(?=https?:)/, ""),
    );
    const fallback = schemePorts[protocol];
    return fallback === undefined
      ? undefined
      : { host: hostname, port: port === "" ? fallback : Number(port) };
  } catch {
    return undefined;
  }
}
