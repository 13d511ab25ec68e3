/** The common part of every box on any runtime: its environment, and its file systems in memory with their sizes. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import { boxPaths, boxUser, type ResourceSpec } from "../../contract/box.ts";

const mib = 2 ** 20;

/** The whole environment of boxd. Nothing of the daemon's, and nothing an engine would add, is in it. */
export const boxEnv = {
  PATH: `${boxPaths.home}/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  HOME: boxPaths.home,
  USER: boxUser.name,
  LANG: "C.UTF-8",
  TERM: "xterm-256color",
} as const;

export const secretBytes = mib;

/** Memory-backed, therefore never more than half of what the box may use, unless another size was asked for. */
export const tmpSize = ({ memoryBytes, tmpBytes }: ResourceSpec): number =>
  tmpBytes ??
  Math.max(16 * mib, Math.min(2048 * mib, Math.floor((memoryBytes ?? Number.MAX_SAFE_INTEGER) / 2)));

export const shmSize = ({ shmBytes }: ResourceSpec): number => shmBytes ?? 256 * mib;

/** Where servers of the host expect to write without a word of configuration: sockets, logs and state. */
export function serverDirs({ memoryBytes }: ResourceSpec): readonly (readonly [string, number])[] {
  const most = tmpSize({ ...omitUndefined({ memoryBytes }), required: [] });
  const sizes = { "/run": 16 * mib, "/var/log": 64 * mib, "/var/lib": 256 * mib };
  return Object.entries(sizes).map(([path, bytes]) => [path, Math.min(bytes, most)]);
}
