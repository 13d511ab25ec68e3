/**
 * Directories of the host that are agreed to at the command line only: what lies in dot directories of the home (keys,
 * settings, programs that start by themselves) and in the system's. SECURITY: a browser session that was stolen, or a
 * script in its page, would read keys there, or leave a program that runs outside of every box.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { BoxSpec } from "../../contract/box.ts";
import type { Origin } from "../../manifest/index.ts";
import { isWithin, systemDirs } from "../../contract/mount-paths.ts";
import type { Using } from "../using.ts";
import { isAgreed } from "./is-agreed.ts";
import { type ManifestInputs, resolveMounts, resolveSkills } from "./mount-requests.ts";
import { trustRequests } from "./trust-requests.ts";

const systemDirectories = [...systemDirs, "/boot", "/root", "/var/lib", "/var/spool"];

export function isOwnDirectory(path: string, userHome: string): boolean {
  // Root's daemon could show those of every user.
  for (const home of [userHome, /^\/home\/[^/]+/.exec(path)?.[0] ?? userHome]) {
    // A directory that holds the home holds what is in it.
    if (isWithin(home, path)) return true;
    if (isWithin(path, home)) return path.slice(home.length).startsWith("/.");
  }
  return systemDirectories.some((directory) => isWithin(path, directory));
}

/** For mounts and skills; a manifest that was agreed to at the command line is no question any more. */
export async function requireBrowserMounts(
  core: Using<"host" | "store">,
  inputs: ManifestInputs,
): Promise<void> {
  const skills = resolveSkills(inputs);
  const mounts = resolveMounts(inputs).map(({ mount: { source }, origin }) => ({ source, origin }));
  const asked = skills === undefined ? mounts : [...mounts, skills];
  const isTrusted = await isAgreed(core, inputs, trustRequests(inputs).digest);
  const isOpen = (origin: Origin): boolean =>
    origin.source === "flag" || (origin.source === "manifest" && !isTrusted);
  await refuseOwn(
    core,
    asked.flatMap(({ source, origin }) => (isOpen(origin) ? [source] : [])),
  );
}

/** SECURITY: a copy of such a directory shows as much as a mount. */
export async function requireBrowserProject(
  core: Using<"host" | "store">,
  projectDir: string | undefined,
  { mode, url }: BoxSpec["workspace"],
): Promise<void> {
  if (projectDir !== undefined && url === undefined && mode !== "empty") await refuseOwn(core, [projectDir]);
}

async function refuseOwn({ ports: { host } }: Using<"host">, sources: readonly string[]): Promise<void> {
  const home = (await host.realPath(host.userHome)) ?? host.userHome;
  const found = sources.find((source) => isOwnDirectory(source, home));
  if (found === undefined) return;
  const directory = printable(found);
  throw new AgentBoxError("access.forbidden", `A browser cannot show ${directory} of the host to a box.`, {
    hint: "This needs a yes at the command line: agentbox trust, or agentbox run in that directory.",
    facts: { parameter: "directory", needs: "socket", directory },
  });
}
