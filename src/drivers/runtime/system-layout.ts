/**
 * Which parts of the host's system a box is given to read. A short list of what programs need, never `/`: a host
 * directory that is not named here does not exist in a box.
 */
import { accessSync, lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import { boxPaths } from "../../contract/box.ts";
import { isWithin } from "../../contract/mount-paths.ts";
import { etcFiles } from "./etc-files.ts";
import type { StagedEtc } from "./host-etc.ts";

export type SystemEntry =
  /** At the same path in a box, but for what was copied. */
  | { readonly kind: "bind"; readonly path: string; readonly source?: string }
  | { readonly kind: "symlink"; readonly path: string; readonly target: string };

export interface SystemLayout {
  readonly entries: readonly SystemEntry[];
  /** Files of the box's own /proc that say something about the host. */
  readonly maskedFiles: readonly string[];
}

const directories = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/**
 * SECURITY: certificates are named one by one, because their parent directories also hold the host's private keys.
 * No file here names the host, its people or its network.
 */
const etcPaths = [
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/ca-certificates",
  "/etc/pki/tls/certs",
  "/etc/pki/ca-trust/extracted",
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/os-release",
  "/etc/debian_version",
  "/etc/protocols",
  "/etc/services",
  "/etc/mime.types",
  "/etc/perl",
  "/etc/terminfo",
];
const etcPrefixes = ["java", "python3"];
const maskedFiles = [
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/sched_debug",
  "/proc/timer_list",
];

function isReadable(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

const look = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

/** Synchronous: forty looks at the system's own disk cost less than forty trips through the thread pool. */
export function readSystemLayout(staged?: StagedEtc): SystemLayout {
  const entries: SystemEntry[] = [];
  for (const path of directories) {
    const stat = look(path);
    if (stat?.isSymbolicLink()) entries.push({ kind: "symlink", path, target: readlinkSync(path) });
    else if (stat?.isDirectory()) entries.push({ kind: "bind", path });
  }
  const names = readdirSync("/etc");
  const matching = names.filter((name) => etcPrefixes.some((prefix) => name.startsWith(prefix)));
  for (const path of [...etcPaths, ...matching.toSorted().map((name) => `/etc/${name}`)]) {
    if (isReadable(path)) entries.push({ kind: "bind", path });
  }
  if (staged !== undefined) entries.push(...stagedEntries(staged, entries));
  return { entries, maskedFiles: maskedFiles.filter((path) => look(path) !== undefined) };
}

/** A box's own files, whose names are the same for each. */
const ownNames = ["/etc/mtab", ...etcFiles({ name: "", machineId: "" }).map(({ path }) => path)];

/**
 * One mount, and a link for each of its entries: hundreds of mounts would be slow. What a box has already, as the host's own
 * directory or as a file of its own, stays.
 */
function stagedEntries(
  { directory, names }: StagedEtc,
  present: readonly SystemEntry[],
): readonly SystemEntry[] {
  const taken = [...ownNames, ...present.map(({ path }) => path)];
  const free = names.filter((name) => !taken.some((path) => isWithin(path, `/etc/${name}`)));
  return [
    { kind: "bind", path: boxPaths.etc, source: directory },
    ...free.map(
      (name): SystemEntry => ({
        kind: "symlink",
        path: `/etc/${name}`,
        target: `${boxPaths.etc}/${name}`,
      }),
    ),
  ];
}
