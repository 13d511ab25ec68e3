import { parseBytes } from "../../base/bytes.ts";
import { suggest } from "../../base/suggest.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import {
  capabilityName,
  grantableCapabilities,
  grantableDevices,
  isGrantableCapability,
  isGrantableDevice,
} from "../../contract/grantable.ts";
import type { Check } from "./check-context.ts";
import { type Problem, quote } from "../finding.ts";
import {
  forbiddenMountTarget,
  isPlainAbsolute,
  isWithin,
  normalizePath,
} from "../../contract/mount-paths.ts";
import type { Path } from "../path.ts";
import { type SecurityExceptionEntry, maxExceptions } from "../sections/security-section.ts";

/** Exceptions from the baseline: each is one of the few things that can be given, and reads as what it is. */
export const checkSecurity: Check = ({ security, runtime, mounts = [] }) => {
  const entries = Object.entries(security?.exceptions ?? {});
  if (entries.length > maxExceptions) {
    const message = `There are ${entries.length} exceptions, and at most ${maxExceptions} are allowed.`;
    const hint = "Keep those the work needs.";
    return [{ code: "E014", path: ["security", "exceptions"], at: "key", message, hint }];
  }
  const features = runtime?.features ?? [];
  return [
    ...entries.flatMap(([name, entry]) => checkEntry(entry, ["security", "exceptions", name], features)),
    ...checkTargets(
      entries,
      mounts.map(({ target }) => normalizePath(target)),
    ),
  ];
};

function checkEntry(entry: SecurityExceptionEntry, path: Path, features: readonly string[]): Problem[] {
  const { devices = [], capabilities = [], tmpfs = {}, gpus, feature } = entry;
  const asks = devices.length + capabilities.length + Object.keys(tmpfs).length + (gpus ?? 0);
  return [
    ...(asks === 0 ? [emptyException(path)] : []),
    ...devices.flatMap((device, i) => checkDevice(device, [...path, "devices", i])),
    ...capabilities.flatMap((name, i) => checkCapability(name, [...path, "capabilities", i])),
    ...(feature === undefined || features.includes(feature) ? [] : [unusedException(path, feature)]),
  ];
}

const emptyException = (path: Path): Problem => ({
  code: "E071",
  path,
  message: `The exception ${quote(path.at(-1))} asks for nothing.`,
  hint: "Add devices, tmpfs, capabilities or gpus, or remove it.",
});

const unusedException = (path: Path, feature: string): Problem => ({
  code: "W007",
  path: [...path, "feature"],
  message: `The exception ${quote(path.at(-1))} holds only with the feature ${quote(feature)}, which this file does not enable.`,
  hint: `Add it to runtime.features, or remove the exception.`,
});

function checkDevice(device: string, path: Path): Problem[] {
  if (isGrantableDevice(device)) return [];
  const message = `The device ${quote(device)} is never given to a box.`;
  return [{ code: "E068", path, message, hint: `These can be asked for: ${grantableDevices}.` }];
}

function checkCapability(text: string, path: Path): Problem[] {
  const name = capabilityName(text);
  if (isGrantableCapability(name)) return [];
  const meant = suggest(name, grantableCapabilities);
  const hint = meant ? `Did you mean "${meant}"?` : `Choose from: ${grantableCapabilities.join(", ")}.`;
  return [{ code: "E069", path, message: `The capability ${quote(text)} is never given to a box.`, hint }];
}

/** SECURITY: it becomes a part of engines' options, in which a comma or a colon begins another option. */
const plainPath = /^(?:\/[A-Za-z0-9._+@-]+)+$/;
const maxTmpfs = 8;
const sizes = { least: "4KiB", most: "64GiB" } as const;

function checkTargets(
  entries: readonly (readonly [string, SecurityExceptionEntry])[],
  mounts: readonly string[],
): Problem[] {
  const taken = [...mounts];
  const directories = entries.flatMap(([name, { tmpfs = {} }]) =>
    Object.entries(tmpfs).map(([target, size]) => ({ target, size, name })),
  );
  return directories.flatMap(({ target, size, name }, i): Problem[] => {
    const path = ["security", "exceptions", name, "tmpfs", target];
    if (i >= maxTmpfs) return [noTarget(path, `there are more than ${maxTmpfs} of them`)];
    const reason = whyNotThere(target, taken);
    taken.push(normalizePath(target));
    return [...(reason === undefined ? [] : [noTarget(path, reason)]), ...checkSize(size, path)];
  });
}

function whyNotThere(path: string, taken: readonly string[]): string | undefined {
  if (!isPlainAbsolute(path) || !plainPath.test(path)) return "it is not a plain absolute path";
  const own = [boxPaths.workspace, boxPaths.home].find((dir) => isWithin(path, dir));
  // SECURITY: the box can make links there, and a mount would follow them.
  if (own !== undefined) return `it is in ${own}, which the box can change`;
  const other = taken.find((target) => isWithin(path, target) || isWithin(target, path));
  return forbiddenMountTarget(path) ?? (other === undefined ? undefined : `it overlaps with ${other}`);
}

const noTarget = (path: Path, reason: string): Problem => ({
  code: "E070",
  path,
  at: "key",
  message: `A directory in memory cannot be at ${quote(path.at(-1))}: ${reason}.`,
  hint: 'Choose a place of its own, such as "/scratch".',
});

function checkSize(size: string, path: Path): Problem[] {
  const bytes = parseBytes(size)!;
  if (bytes >= parseBytes(sizes.least)! && bytes <= parseBytes(sizes.most)!) return [];
  const message = `A directory in memory cannot have a size of ${quote(size)}.`;
  return [{ code: "E014", path, message, hint: `Choose from ${sizes.least} to ${sizes.most}.` }];
}
