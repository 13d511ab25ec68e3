/** The [network] of every layer → the one policy a box is judged by. Pure: presets have been read before. */
import { AgentBoxError } from "../../base/errors.ts";
import type { NetworkRuleEntry } from "../../manifest/sections/network-section.ts";
import { parseExceptionAddress } from "../../contract/network/exception-address.ts";
import { ownDomain } from "../../contract/network/host-name.ts";
import { parseHostPattern } from "../../contract/network/host-pattern.ts";
import type { AddressException, NetworkPolicy, NetworkRule } from "../../contract/network/policy.ts";
import type { PresetHosts } from "../../contract/network/preset.ts";
import type { NetworkLayer } from "./network-layers.ts";

export interface CompileOptions {
  /** Every entry has been checked by the parser of its layer. */
  readonly layers: readonly NetworkLayer[];
  /** The rules of the presets of all layers; see `readPresets`. */
  readonly presets: ReadonlyMap<string, PresetHosts>;
  /** Rules for the hosts of secrets; see `secretRules`. */
  readonly secrets?: readonly NetworkRule[] | undefined;
  /** The answer for an unlisted host when no layer has one; `deny` by default. */
  readonly fallback?: NetworkPolicy["default"] | undefined;
}

/** Throws `policy.invalid` for what no parser has seen: a preset that was not read, or a host that cannot be used. */
export function compilePolicy({
  layers,
  presets,
  secrets = [],
  fallback = "deny",
}: CompileOptions): NetworkPolicy {
  const exceptions = distinctExceptions(layers.flatMap(compileExceptions));
  const rules = [
    ...layers.flatMap((layer) => compileRules(layer, presets)),
    ...secrets,
    ...exceptions.map(exceptionRule),
  ];
  return {
    default: decideDefault(layers, fallback),
    isLearning: layers.some(({ network }) => network.learn === true),
    bounds: layers.flatMap((layer) => compileBound(layer, exceptions)),
    rules: [...rules.filter(({ mode }) => mode === "deny"), ...rules.filter(({ mode }) => mode !== "deny")],
    exceptions,
  };
}

/** The owner of the machine has the last word for a denial; the person before the project; the project otherwise. */
function decideDefault(
  layers: readonly NetworkLayer[],
  fallback: NetworkPolicy["default"],
): NetworkPolicy["default"] {
  const defaultOf = (layer: NetworkLayer["layer"]) =>
    layers.find((candidate) => candidate.layer === layer)?.network.default;
  if (defaultOf("host") === "deny") return "deny";
  const typed = defaultOf("flag");
  if (typed !== undefined) return typed;
  if (defaultOf("user") === "deny") return "deny";
  return defaultOf("project") ?? defaultOf("user") ?? defaultOf("host") ?? fallback;
}

function compileRules(source: NetworkLayer, presets: CompileOptions["presets"]): NetworkRule[] {
  const { layer, network, originOf } = source;
  return [
    ...(network.allow ?? []).map((host, i) => hostRule(`${layer}:allow[${i}]`, host, originOf(["allow", i]))),
    ...(network.presets ?? []).flatMap((name, i) => presetRules(source, name, i, presets)),
    ...(network.rules ?? []).map((entry, i) =>
      entryRule(`${layer}:rules[${i}]`, entry, originOf(["rules", i])),
    ),
  ];
}

function hostRule(id: string, text: string, origin: NetworkRule["origin"], isDenial = false): NetworkRule {
  const parsed = parseHostPattern(text, { isDenial });
  if ("problem" in parsed) {
    throw new AgentBoxError("policy.invalid", `The host "${text}" cannot be used: ${parsed.reason}.`, {
      hint: parsed.hint,
      facts: { rule: id, ...origin },
    });
  }
  const ports = parsed.port === undefined ? [] : [parsed.port];
  return { id, origin, mode: "allow", host: parsed.pattern, ports, methods: [], paths: [], inspect: false };
}

function entryRule(id: string, entry: NetworkRuleEntry, origin: NetworkRule["origin"]): NetworkRule {
  const { mode = "allow", ports, methods = [], paths = [], inspect = false, expires } = entry;
  const rule = hostRule(id, entry.host, origin, mode === "deny");
  return {
    ...rule,
    mode,
    ports: ports ?? rule.ports,
    methods,
    paths,
    inspect,
    ...(expires === undefined ? {} : { expiresAtMs: Date.parse(expires) }),
  };
}

function presetRules(
  { layer, originOf }: NetworkLayer,
  name: string,
  index: number,
  presets: CompileOptions["presets"],
): NetworkRule[] {
  const preset = presets.get(name);
  if (preset === undefined) {
    throw new AgentBoxError("policy.invalid", `There is no network preset named "${name}".`, {
      hint: `Known here: ${[...presets.keys()].join(", ") || "none"}.`,
    });
  }
  const origin = originOf(["presets", index]);
  return preset.rules.map(({ host, ports, methods, paths }, i) => ({
    ...hostRule(`${layer}:preset:${name}[${i}]`, host, origin),
    ports: [...ports],
    methods: [...methods],
    paths: [...paths],
  }));
}

function compileExceptions({ layer, network, originOf }: NetworkLayer): AddressException[] {
  return Object.entries(network.exceptions ?? {}).map(([name, { address: text, reason }]) => {
    const parsed = parseExceptionAddress(text);
    const origin = originOf(["exceptions", name]);
    if ("problem" in parsed) {
      throw new AgentBoxError(
        "policy.invalid",
        `The address "${text}" cannot be opened: ${parsed.problem}.`,
        {
          hint: "Write one address of the local network and its port.",
          facts: { rule: `${layer}:exceptions.${name}`, ...origin },
        },
      );
    }
    return { name: `${name}.${ownDomain}`, ...parsed, reason, origin };
  });
}

/** SECURITY: one name, one address: otherwise a project could slip its own under a name that is allowed. */
function distinctExceptions(exceptions: readonly AddressException[]): AddressException[] {
  const known = new Map<string, AddressException>();
  for (const exception of exceptions) {
    const { name, address, port, origin } = exception;
    const first = known.get(name);
    if (first && (first.address !== address || first.port !== port)) {
      throw new AgentBoxError(
        "policy.invalid",
        `The exception ${name} is ${first.address}:${first.port} for the ${first.origin.layer} and ${address}:${port} for the ${origin.layer}.`,
        { hint: "Give one of the two another name.", facts: { ...origin } },
      );
    }
    if (!first) known.set(name, exception);
  }
  return [...known.values()];
}

/** An exception is also a rule for its name, so that it is decided, bounded and explained like any other. */
const exceptionRule = ({ name, port, origin }: AddressException): NetworkRule => ({
  id: `${origin.layer}:exceptions.${name.slice(0, -ownDomain.length - 1)}`,
  origin,
  mode: "allow",
  host: { name, isWildcard: false },
  ports: [port],
  methods: [],
  paths: [],
  inspect: false,
});

/** Only the owner of the machine and the person bound others; the parsers refuse `only` elsewhere. */
function compileBound(
  { layer, network, originOf }: NetworkLayer,
  exceptions: readonly AddressException[],
): NetworkPolicy["bounds"] {
  if (network.only === undefined || (layer !== "host" && layer !== "user")) return [];
  const hosts = network.only.map((host, i) => hostRule(`${layer}:only[${i}]`, host, originOf(["only", i])));
  // SECURITY: by address, because a project could give its own address the name of an exception that is allowed.
  const own = exceptions.filter(({ origin }) => origin.layer === layer);
  const within = exceptions.filter((one) =>
    own.some(({ address, port }) => address === one.address && port === one.port),
  );
  return [{ layer, rules: [...hosts, ...within.map(exceptionRule)] }];
}
