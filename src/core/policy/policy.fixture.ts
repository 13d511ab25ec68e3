import { parseFlags, parseHostPolicy, parseManifest, parseUserConfig } from "../../manifest/index.ts";
import type { NetworkPolicy } from "../../contract/network/policy.ts";
import type { PresetHosts } from "../../contract/network/preset.ts";
import { compilePolicy } from "./compile-policy.ts";
import { networkLayers } from "./network-layers.ts";
import { secretRules } from "./secret-rules.ts";

export interface PolicyTexts {
  readonly host?: string;
  readonly user?: string;
  readonly project?: string;
  readonly flags?: unknown;
  readonly presets?: readonly PresetHosts[];
  readonly fallback?: NetworkPolicy["default"];
}

/** The layers as the daemon reads them, from texts. */
export function layersOf({ host, user, project, flags }: PolicyTexts) {
  const read = (parsed: { layer?: ReturnType<typeof parseFlags>; findings: readonly unknown[] }) => {
    if (!parsed.layer) throw new TypeError(JSON.stringify(parsed.findings));
    return parsed.layer;
  };
  return [
    ...(host === undefined ? [] : [read(parseHostPolicy(host, { file: "/etc/agentbox/policy.toml" }))]),
    ...(user === undefined ? [] : [read(parseUserConfig(user, { file: "/home/ada/.agentbox/config.toml" }))]),
    ...(project === undefined
      ? []
      : [read(parseManifest(`version = 1\n${project}`, { file: "/srv/app/agentbox.toml" }))]),
    ...(flags === undefined ? [] : [parseFlags(flags)]),
  ];
}

export const compile = (texts: PolicyTexts): NetworkPolicy =>
  compilePolicy({
    layers: networkLayers(layersOf(texts)),
    presets: new Map((texts.presets ?? []).map((preset) => [preset.name, preset])),
    secrets: secretRules(layersOf(texts)),
    fallback: texts.fallback,
  });

export const allow = (...hosts: string[]): string => `[network]\nallow = ${JSON.stringify(hosts)}\n`;
