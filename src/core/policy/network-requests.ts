/** The network requests of a manifest, one readable sentence each. Denials and questions ask for nothing. */
import { canonicalJson } from "../../base/digest.ts";
import { printable } from "../../base/printable.ts";
import { parseExceptionAddress } from "../../contract/network/exception-address.ts";
import { forbiddenRange } from "../../contract/network/address-ranges.ts";
import type { ManifestLayer } from "../../manifest/index.ts";
import type { ExceptionEntry, NetworkRuleEntry } from "../../manifest/sections/network-section.ts";
import type { PresetHosts } from "../../contract/network/preset.ts";
import { networkLayers } from "./network-layers.ts";

export type NetworkRequest =
  | { readonly kind: "network_preset"; readonly name: string; readonly sentence: string }
  | { readonly kind: "network_host"; readonly host: string; readonly sentence: string }
  | {
      readonly kind: "network_rule";
      readonly host: string;
      readonly ports: readonly number[];
      readonly methods: readonly string[];
      readonly paths: readonly string[];
      readonly expires: string;
      readonly sentence: string;
    }
  | {
      readonly kind: "network_exception";
      readonly name: string;
      readonly address: string;
      readonly reason: string;
      readonly sentence: string;
    };

/** `presets` makes the sentences name the hosts; a preset that was not read is named by itself. */
export function networkRequests(
  layers: readonly ManifestLayer[],
  presets: ReadonlyMap<string, PresetHosts> = new Map(),
): NetworkRequest[] {
  const [project] = networkLayers(layers).filter(({ layer }) => layer === "project");
  if (project === undefined) return [];
  const { presets: names = [], allow = [], rules = [], exceptions = {} } = project.network;
  return [
    ...inOrder(names.map((name) => presetRequest(name, presets.get(name)))),
    ...inOrder(allow.map(hostRequest)),
    ...inOrder(rules.filter(({ mode = "allow" }) => mode === "allow").map(ruleRequest)),
    ...inOrder(Object.entries(exceptions).map(([name, entry]) => exceptionRequest(name, entry))),
  ];
}

/** Always the same, so that moving lines in the file is not another request. */
const inOrder = (requests: readonly NetworkRequest[]): NetworkRequest[] =>
  requests
    .map((request) => ({ request, key: canonicalJson({ ...request, sentence: "" }) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ request }) => request);

const hostRequest = (host: string): NetworkRequest => ({
  kind: "network_host",
  host,
  sentence: printable(`reach ${host}`),
});

function exceptionRequest(name: string, { address, reason }: ExceptionEntry): NetworkRequest {
  const sentence = printable(`reach ${address} ${whoseAddress(address)} (reason: ${reason})`);
  return { kind: "network_exception", name, address, reason, sentence };
}

/** The hosts of a tool are the person's own configuration: when they change, the request is still the same. */
function presetRequest(name: string, preset: PresetHosts | undefined): NetworkRequest {
  const hosts = [...new Set(preset?.rules.map(({ host }) => host))];
  const list = hosts.length === 0 ? "" : `: ${hosts.join(", ")}`;
  return {
    kind: "network_preset",
    name,
    sentence: printable(`reach the hosts of the preset ${name}${list}`),
  };
}

function ruleRequest({
  host,
  ports = [],
  methods = [],
  paths = [],
  expires = "",
}: NetworkRuleEntry): NetworkRequest {
  const verb = methods.length === 0 ? "send anything to" : methods.join(", ");
  const scheme = ports.length === 0 || ports.includes(443) ? "https://" : "";
  const where =
    paths.length === 0 ? `${scheme}${host}` : paths.map((path) => `${scheme}${host}${path}`).join(", ");
  const on = ports.length === 0 ? "" : ` on port ${ports.join(", ")}`;
  const until = expires === "" ? "" : ` until ${expires}`;
  return {
    kind: "network_rule",
    host,
    ports,
    methods,
    paths,
    expires,
    sentence: printable(`${verb} ${where}${on}${until}`),
  };
}

function whoseAddress(text: string): string {
  const parsed = parseExceptionAddress(text);
  const range = "problem" in parsed ? undefined : forbiddenRange(parsed.address);
  if (range === undefined) return "by its address";
  return range === "loopback" ? "of this computer itself" : "of your private network";
}
