/** Debian packages: which a base has, by its own record, and which names may be asked for. */
import { AgentBoxError } from "../../base/errors.ts";

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** The packages that boxd, workspaces and the gate need in every base. */
const basePackages = ["ca-certificates", "git", "openssh-client"] as const;

/**
 * SECURITY: names end up in a program's arguments, where a leading hyphen is an option, a comma another name, a slash or
 * an equals sign another source, and a hyphen at the end means "remove".
 */
const namePattern = /^[a-z0-9][a-z0-9+.-]{0,126}[a-z0-9+]$/;

/** Sorted, each once, with those that every base has. */
export function allPackages(asked: readonly string[]): string[] {
  const wrong = asked.find((name) => !namePattern.test(name));
  if (wrong === undefined) return [...new Set([...basePackages, ...asked])].sort();
  throw new AgentBoxError("image.invalid", `${JSON.stringify(wrong.slice(0, 80))} is no name of a package.`, {
    hint: "Use names of Debian packages in runtime.packages, such as ripgrep; no versions and no options.",
    facts: { package: wrong.slice(0, 80) },
  });
}

/** From dpkg's own list, sorted by name. */
export function readDpkgStatus(text: string): DebianPackage[] {
  const packages = text.split("\n\n").flatMap((block): DebianPackage[] => {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
    const name = field("Package");
    if (name === undefined || !field("Status")?.endsWith(" installed")) return [];
    return [{ name, version: field("Version") ?? "", architecture: field("Architecture") ?? "" }];
  });
  return packages.sort((a, b) => (a.name < b.name ? -1 : 1));
}
