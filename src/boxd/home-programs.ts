/**
 * Programs that the box installs for itself: they go to its home, are kept with it, and are found. The variables say to
 * each installer that the system is not to be written.
 */
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
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
