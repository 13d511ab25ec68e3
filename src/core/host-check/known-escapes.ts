/**
 * Known ways out of a box in the parts below it, and whether the versions of this host have them. Pure. Numbers decide
 * where they mean something: a distribution mends an old version and keeps its number, and then only the package's own
 * list of changes, if it is there, can say more. In doubt the answer is "unknown", never a false alarm and never silence.
 */
import type { EscapeReport } from "../../contract/api/schemas/daemon.ts";

export interface Installed {
  readonly component: string;
  /** As it says itself: 1.1.5+ds1, 6.1.0-28-amd64. */
  readonly version: string;
  /** The number that can be compared, where that is another one: a distribution's kernel says it elsewhere. */
  readonly upstream?: string | undefined;
  /** The package it comes from, when a distribution made it. */
  readonly package?: { readonly name: string; readonly version: string } | undefined;
  /** Advisories that the package says it has mended. */
  readonly mended?: readonly string[] | undefined;
}

interface Advisory {
  readonly id: string;
  readonly component: string;
  readonly what: string;
  /** The first version that has it, where not all before the fix do. */
  readonly since?: string;
  /** The first version of each line that is mended, oldest line first. */
  readonly fixedIn: readonly string[];
}

const runcMounts = ["1.2.8", "1.3.3", "1.4.0-rc.3"];

const advisories: readonly Advisory[] = [
  {
    id: "CVE-2025-31133",
    component: "runc",
    what: "a container swaps a masked path while it starts, and writes to the host's /proc",
    fixedIn: runcMounts,
  },
  {
    id: "CVE-2025-52565",
    component: "runc",
    what: "a container swaps /dev/console while it starts, and writes to the host's /proc",
    fixedIn: runcMounts,
  },
  {
    id: "CVE-2025-52881",
    component: "runc",
    what: "writes to /proc while a container starts are led astray, past its labels and out of it",
    fixedIn: runcMounts,
  },
  {
    id: "CVE-2024-21626",
    component: "runc",
    what: "an open directory of the host leaks into a container",
    since: "1.0.0-rc.93",
    fixedIn: ["1.1.12"],
  },
  {
    id: "CVE-2022-23648",
    component: "containerd",
    what: "an image's volumes copy files of the host into its container",
    fixedIn: ["1.4.13", "1.5.10", "1.6.1"],
  },
  {
    id: "CVE-2024-23653",
    component: "docker",
    what: "somebody else's build instructions run with more rights than asked for",
    fixedIn: ["24.0.9", "25.0.2"],
  },
  {
    id: "CVE-2024-1753",
    component: "podman",
    what: "somebody else's build instructions mount the host's root",
    fixedIn: ["4.9.4", "5.0.1"],
  },
  {
    id: "CVE-2022-0847",
    component: "kernel",
    what: "files that are only readable can be overwritten (Dirty Pipe)",
    since: "5.8",
    fixedIn: ["5.10.102", "5.15.25", "5.16.11"],
  },
];

/** Everything that is not known to be mended. */
export const findEscapes = (installed: readonly Installed[]): EscapeReport[] =>
  installed.flatMap((one) =>
    advisories
      .filter(({ component }) => component === one.component)
      .flatMap((advisory) => {
        const report = judge(one, advisory);
        return report === undefined ? [] : [report];
      }),
  );

function judge(
  installed: Installed,
  { id, component, what, since, fixedIn }: Advisory,
): EscapeReport | undefined {
  const { version, upstream = version, mended = [] } = installed;
  const about = { component, version, advisory: id, what };
  const parsed = parseVersion(upstream);
  if (parsed !== undefined && !hasFlaw(parsed, since, fixedIn)) return undefined;
  if (mended.includes(id)) return undefined;
  if (parsed !== undefined && !isVendors(installed)) {
    const hint = `Update ${component} to ${fixedIn.join(", ")} or newer.`;
    return { ...about, verdict: "affected", detail: `${what}; mended in ${fixedIn.join(", ")}`, hint };
  }
  const from = installed.package
    ? `the package ${installed.package.name} ${installed.package.version}`
    : "this build";
  return {
    ...about,
    verdict: "unknown",
    detail: `${what}; mended in ${fixedIn.join(", ")}, and ${from} does not say whether it has the fix`,
    hint: installed.package
      ? `Look for it: apt-get changelog ${installed.package.name}; or bring the system up to date.`
      : `Ask its vendor, or use ${fixedIn.at(-1)!} or newer.`,
  };
}

/** A number that a vendor has added to may be an old version with new fixes: 1.1.5+ds1-1+deb12u1, 20.10.24+dfsg1. */
const isVendors = ({ version, upstream, package: source }: Installed): boolean =>
  source !== undefined || (upstream === undefined && !/^\d+(?:\.\d+)+(?:-rc\.?\d+)?$/.test(version));

function hasFlaw(version: Version, since: string | undefined, fixedIn: readonly string[]): boolean {
  if (since !== undefined && compareVersions(version, parsed(since)) < 0) return false;
  const fixes = fixedIn.map(parsed);
  const ofLine = fixes.find(
    (fix) => fix.numbers[0] === version.numbers[0] && fix.numbers[1] === version.numbers[1],
  );
  if (ofLine !== undefined) return compareVersions(version, ofLine) < 0;
  // A line of its own has the fix from its beginning when it came after the last one that was mended.
  return compareVersions(version, fixes.at(-1)!) < 0;
}

interface Version {
  readonly numbers: readonly [number, number, number];
  /** A candidate comes before its release. */
  readonly candidate: number;
}

/** Undefined when there is no number to compare. */
function parseVersion(text: string): Version | undefined {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-~]rc\.?(\d+))?/.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch = "0", candidate] = match;
  return {
    numbers: [Number(major), Number(minor), Number(patch)],
    candidate: candidate === undefined ? Number.POSITIVE_INFINITY : Number(candidate),
  };
}

const parsed = (text: string): Version => parseVersion(text)!;

function compareVersions(a: Version, b: Version): number {
  for (const at of [0, 1, 2] as const) {
    const difference = a.numbers[at] - b.numbers[at];
    if (difference !== 0) return difference;
  }
  return a.candidate === b.candidate ? 0 : a.candidate < b.candidate ? -1 : 1;
}
