/**
 * A base from Debian packages, made on the spot by mmdebstrap: the host's own release, from where the host takes its
 * packages. The same packages give the same bytes; nothing of the host's configuration is in it.
 */
import { createReadStream } from "node:fs";
import { open, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { removeTree } from "../../host/files.ts";
import { type RunResult, run } from "../../host/run.ts";
import { type AptFile, debianSources } from "./apt-sources.ts";
import type { Base } from "./base.ts";
import { type LayerStore, interrupted } from "./layer-store.ts";
import { allPackages, readDpkgStatus } from "./packages.ts";

export interface DebianOptions {
  readonly layers: LayerStore;
  readonly isRoot: boolean;
  /** For a proxy that downloads go through. */
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: (message: string) => void;
  readonly signal: AbortSignal;
}

const timeoutMs = 30 * 60_000;

export async function debianKey(packages: readonly string[]): Promise<string> {
  return JSON.stringify(["debian", await codename(), process.arch, allPackages(packages)]);
}

export async function buildDebianBase(asked: readonly string[], options: DebianOptions): Promise<Base> {
  const packages = allPackages(asked);
  const suite = await codename();
  const sources = debianSources(await aptFiles(), suite);
  if (sources === "") throw noSources(suite);
  options.onProgress(`Building a base of ${packages.length} Debian packages and what they need (${suite})`);
  const scratch = await options.layers.scratch();
  try {
    const file = join(scratch, "base.tar");
    await bootstrap({ suite, packages, sources, file, scratch }, options);
    const layer = await options.layers.keep(await debianKey(asked), createReadStream(file), options.signal);
    const installed = readDpkgStatus(await readStatus(file));
    requireAll(packages, installed);
    return { name: `debian ${suite}`, layers: [layer], env: [], packages: installed };
  } finally {
    await removeTree(scratch);
  }
}

interface Bootstrap {
  readonly suite: string;
  readonly packages: readonly string[];
  readonly sources: string;
  readonly file: string;
  readonly scratch: string;
}

async function bootstrap(what: Bootstrap, { isRoot, env, signal }: DebianOptions): Promise<void> {
  await using output = await open(what.file, "wx", 0o600);
  let result: RunResult;
  try {
    result = await run(bootstrapArgv(what, isRoot), {
      stdin: what.sources,
      stdoutFd: output.fd,
      // SECURITY: only what downloads need; packages' scripts see no variable of the daemon's.
      env: { ...programEnv, ...proxies(env), ...(isRoot ? { TMPDIR: what.scratch } : {}) },
      timeoutMs,
      isStrict: true,
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw interrupted();
    throw noProgram(error);
  }
  if (signal.aborted) throw interrupted();
  if (result.code !== 0) throw bootstrapFailure(result);
}

const programEnv = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
  SOURCE_DATE_EPOCH: "0",
};

const proxies = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ["http_proxy", "https_proxy", "no_proxy"].flatMap((name) => {
      const value = env[name] ?? env[name.toUpperCase()];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/**
 * The traces of the host that mmdebstrap would leave: names of mirrors (which may hold a password), its name, its
 * resolver.
 */
const forget = ["etc/apt/sources.list", "etc/apt/sources.list.d", "etc/hostname", "etc/resolv.conf"]
  .concat(["etc/apt/apt.conf.d/99mmdebstrap", "etc/dpkg/dpkg.cfg.d/99mmdebstrap", "var/log/apt"])
  .concat(["var/cache/debconf/config.dat-old", "var/cache/debconf/templates.dat-old"]);

/**
 * SECURITY: packages were checked to be names and nothing else; the hook is a constant. As root, packages' scripts run in
 * namespaces of their own, so that no mount or process of theirs outlives the build or is seen by its clean-up.
 */
export function bootstrapArgv(
  { suite, packages }: Pick<Bootstrap, "suite" | "packages">,
  isRoot: boolean,
): [string, ...string[]] {
  const own = ["unshare", "--mount", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc", "--"];
  const argv = [
    ...(isRoot ? own : []),
    "mmdebstrap",
    `--mode=${isRoot ? "root" : "unshare"}`,
    "--variant=minbase",
    "--format=tar",
    `--include=${packages.join(",")}`,
    '--aptopt=Acquire::Languages "none"',
    ...["doc", "man", "info", "locale"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    // A box has devices of its own; an ordinary user's engine could not make these.
    "--skip=output/dev",
    `--customize-hook=cd "$1" && rm -rf ${forget.join(" ")}`,
    "--",
    suite,
    "-",
    "-",
  ];
  return argv as [string, ...string[]];
}

async function codename(): Promise<string> {
  const text = await readFile("/etc/os-release", "utf8").catch(() => "");
  const found = /^VERSION_CODENAME="?([a-z]+)"?$/m.exec(text)?.[1];
  if (found !== undefined && /^ID(?:_LIKE)?="?.*debian/m.test(text)) return found;
  throw new AgentBoxError(
    "image.build_failed",
    "This host is not Debian, so no base can be made from its packages.",
    {
      hint: "Name an image to begin with: runtime.image",
    },
  );
}

async function aptFiles(): Promise<AptFile[]> {
  const dir = "/etc/apt/sources.list.d";
  const names = await readdir(dir).catch((): string[] => []);
  const paths = ["/etc/apt/sources.list", ...names.sort().map((name) => join(dir, name))];
  const files = await Promise.all(
    paths.map(async (name) => ({ name, text: await readFile(name, "utf8").catch(() => "") })),
  );
  return files.filter(({ name }) => name.endsWith(".list") || name.endsWith(".sources"));
}

/** Read from the tar itself, as one stream. */
async function readStatus(file: string): Promise<string> {
  const { code, stdout } = await run(
    ["tar", "--extract", "--to-stdout", "--file", file, "./var/lib/dpkg/status"],
    {
      maxOutputBytes: 32 << 20,
    },
  );
  return code === 0 ? stdout : "";
}

function requireAll(asked: readonly string[], installed: Base["packages"]): void {
  const names = new Set(installed.map(({ name }) => name));
  const missing = asked.filter((name) => !names.has(name));
  if (missing.length > 0) throw unknownPackages(missing);
}

const unknownPackages = (names: readonly string[]): AgentBoxError =>
  new AgentBoxError("image.build_failed", `There is no Debian package ${names.join(", ")}.`, {
    hint: "Correct runtime.packages; search with: apt-cache search WORD",
    facts: { packages: [...names] },
  });

function bootstrapFailure({ stderr, timedOut }: RunResult): AgentBoxError {
  const unknown = [
    ...stderr.matchAll(/Unable to locate package (\S+)|Package '([^']+)' has no installation/g),
  ];
  if (unknown.length > 0)
    return unknownPackages([...new Set(unknown.map(([, a, b]) => printable(a ?? b ?? "")))]);
  const lines = stderr.split("\n").filter((line) => /^(?:[EW]|dpkg: error):? /.test(line));
  // SECURITY: an address in a message may hold the password of a mirror.
  const lastLines = printable(lines.slice(-2).join("; ")).replaceAll(/\/\/[^/@\s]*@/g, "//");
  return new AgentBoxError(
    "image.build_failed",
    timedOut
      ? "Building the base took too long."
      : `The base could not be built: ${lastLines || "mmdebstrap failed"}.`,
    { hint: "Check that apt-get update works on this host, and that there is room on the disk." },
  );
}

function noProgram(error: unknown): unknown {
  if (systemCode(error) !== "ENOENT") return error;
  return new AgentBoxError(
    "image.build_failed",
    `A base needs the program mmdebstrap: ${messageOf(error)}.`,
    {
      hint: "Install it: apt-get install mmdebstrap; or name an image to begin with: runtime.image",
    },
  );
}

const noSources = (suite: string): AgentBoxError =>
  new AgentBoxError("image.build_failed", `This host's apt names no source of Debian ${suite}.`, {
    hint: "Look into /etc/apt/sources.list.d, or name an image to begin with: runtime.image",
  });
