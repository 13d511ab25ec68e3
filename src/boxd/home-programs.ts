/**
 * Programs that the box installs for itself: they go to its home, are kept with it, and are found. The variables say to
 * each installer that the system is not to be written.
 */
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { boxPaths } from "../contract/box-paths.ts";

const { home } = boxPaths;
const localBin = `${home}/.local/bin`;
const pnpmHome = `${home}/.local/share/pnpm`;

/** At the beginning of the PATH, as on a machine of one's own. */
export const homeBins: readonly string[] = [localBin, `${home}/.cargo/bin`, `${home}/go/bin`, pnpmHome];

export const installerEnv = {
  npm_config_prefix: `${home}/.local`,
  PNPM_HOME: pnpmHome,
  // Debian's mark protects a system from pip; this one is read-only.
  PIP_BREAK_SYSTEM_PACKAGES: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  GEMRC: `${boxPaths.tools}/boxd/gemrc`,
  COREPACK_ENABLE_DOWNLOAD_PROMPT: "0",
};

/** Where vendors' archives and images put a toolchain below /usr; no system has these in its PATH. */
const knownBins = ["/usr/local/go/bin", "/usr/local/cargo/bin", "/usr/local/node/bin", "/usr/local/bun/bin"];

export const systemBins = (): readonly string[] => knownBins.filter((path) => existsSync(path));

/** Rust's own image keeps its toolchains beside `/usr/local/cargo`. */
export const systemEnv = (): Readonly<Record<string, string>> =>
  existsSync("/usr/local/rustup/toolchains") ? { RUSTUP_HOME: "/usr/local/rustup" } : {};

/**
 * Native addons are built with the headers that lie beside the Node they are for: node-gyp would ask the internet for
 * them. Only for exactly that version; a Debian package of headers may be of another Node than the one that is found.
 */
export function nodeHeaders(searchPath: string): Readonly<Record<string, string>> {
  const prefix = nodePrefix(searchPath);
  if (prefix === undefined || headerVersion(prefix) === undefined) return {};
  if (headerVersion(prefix) !== versionIn(prefix)) return {};
  return {
    npm_package_config_node_gyp_nodedir: prefix,
    // Of an older node-gyp; a newer npm warns about it.
    ...(gypVersion(prefix) < 11 ? { npm_config_nodedir: prefix } : {}),
  };
}

function nodePrefix(searchPath: string): string | undefined {
  try {
    const directory = searchPath
      .split(":")
      .find((dir) => dir.startsWith("/") && existsSync(join(dir, "node")));
    return directory === undefined ? undefined : dirname(dirname(realpathSync(join(directory, "node"))));
  } catch {
    return undefined;
  }
}

function headerVersion(prefix: string): string | undefined {
  try {
    const header = readFileSync(join(prefix, "include/node/node_version.h"), "utf8");
    const numbers = ["MAJOR", "MINOR", "PATCH"].map(
      (part) => new RegExp(`^#define NODE_${part}_VERSION (\\d+)$`, "m").exec(header)?.[1],
    );
    return numbers.includes(undefined) ? undefined : numbers.join(".");
  } catch {
    return undefined;
  }
}

/** Without starting it: it is the program that boxd itself runs on, or lies where version managers put it. */
function versionIn(prefix: string): string | undefined {
  const [found, own] = [join(prefix, "bin/node"), process.execPath].map((path) => statSync(path));
  if (found!.dev === own!.dev && found!.ino === own!.ino) return process.versions.node;
  return /\/v?(\d+\.\d+\.\d+)$/.exec(prefix)?.[1];
}

/** Of the node-gyp that this Node's npm has; 0 where there is none. */
function gypVersion(prefix: string): number {
  try {
    const path = join(prefix, "lib/node_modules/npm/node_modules/node-gyp/package.json");
    return Number.parseInt((JSON.parse(readFileSync(path, "utf8")) as { version: string }).version, 10);
  } catch {
    return 0;
  }
}

const shims = `${boxPaths.tools}/boxd/shims`;

/** Before the system's programs: `sudo`, and where there is apt, `apt-get`. They say what to do instead. */
export const shimDirs = (hasApt = existsSync("/usr/bin/apt-get")): readonly string[] => [
  `${shims}/any`,
  ...(hasApt ? [`${shims}/debian`] : []),
];

/** `corepack enable` writes beside the corepack that it finds first, which must be where the box can write. */
export async function linkCorepack(searchPath = "", at: string = home): Promise<void> {
  try {
    const own = join(at, ".local/bin/corepack");
    if (lstatSync(own, { throwIfNoEntry: false }) !== undefined) return;
    const found = searchPath
      .split(":")
      .find((dir) => dir.startsWith("/") && existsSync(join(dir, "corepack")));
    if (found === undefined) return;
    const { seedHome } = await import("./files/seed-home.ts");
    await seedHome([], { ".local/bin/corepack": join(found, "corepack") }, at);
  } catch (error) {
    process.stderr.write(`boxd: corepack is not in the home: ${messageOf(error)}\n`);
  }
}
