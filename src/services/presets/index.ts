/**
 * The network presets of this host. Reviewed lists come from our own data; the hosts of package managers come from
 * the person's configuration of the tool, read anew each time, so a company's mirror works and no list goes stale.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { PresetHosts } from "../../contract/network/preset.ts";
import type { PresetSource } from "../../ports/presets.ts";
import { readApt } from "./apt.ts";
import { readCargo } from "./cargo.ts";
import { readGo } from "./go.ts";
import { readNpm } from "./npm.ts";
import { readPip } from "./pip.ts";
import { hostsFromUrls } from "./registry-hosts.ts";
import { presetAliases, servicePresets } from "./service-presets.ts";
import { type ToolHost, openToolHost } from "./tool-host.ts";

/** Addresses that a tool is configured to fetch from, as texts of its own. */
const tools: Readonly<Record<string, (host: ToolHost) => Promise<readonly string[]>>> = {
  npm: readNpm,
  pip: readPip,
  apt: readApt,
  cargo: readCargo,
  go: readGo,
};

const freshMs = 60_000;

/** `env` is the environment of the person whose configuration counts. */
export function openPresets(env: NodeJS.ProcessEnv, goRoot?: string): PresetSource {
  const host = openToolHost(env, goRoot);
  const known = new Map<string, { readonly atMs: number; readonly hosts: Promise<PresetHosts> }>();

  /** Asking a tool takes up to seconds, and boxes are made by the dozen. */
  const remember = (name: string, read: () => Promise<PresetHosts>): Promise<PresetHosts> => {
    const last = known.get(name);
    if (last && performance.now() - last.atMs < freshMs) return last.hosts;
    const hosts = read();
    known.set(name, { atMs: performance.now(), hosts });
    // A failure is asked about again: it may have been mended.
    hosts.catch(() => known.delete(name));
    return hosts;
  };

  return {
    names: [...Object.keys(tools), ...Object.keys(servicePresets)],
    aliases: Object.keys(presetAliases),
    async read(word): Promise<PresetHosts> {
      const name = Object.hasOwn(presetAliases, word) ? presetAliases[word]! : word;
      const reviewed = Object.hasOwn(servicePresets, name) ? servicePresets[name] : undefined;
      if (reviewed) return { name, rules: reviewed, unusable: [] };
      const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
      if (tool) return remember(name, async () => hostsFromUrls(name, await tool(host)));
      throw new AgentBoxError("policy.invalid", `There is no network preset named "${name.slice(0, 64)}".`, {
        hint:
          name === "docker"
            ? "The host fetches images, not the box: name one with [runtime] image."
            : `Known: ${[...Object.keys(tools), ...Object.keys(servicePresets)].join(", ")}.`,
      });
    },
  };
}
