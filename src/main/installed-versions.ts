import { access, constants, readFile } from "node:fs/promises";
import { release, version as kernelBuild } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { omitUndefined } from "../base/omit-undefined.ts";
import type { Installed } from "../core/host-check/known-escapes.ts";
import { run } from "../host/run.ts";

/** Parts of this host that stand between a box and it, how each says its version, and its Debian package. */
const parts = [
  { component: "runc", argv: ["runc", "--version"], packageName: "runc" },
  { component: "containerd", argv: ["containerd", "--version"], packageName: "containerd" },
  { component: "docker", argv: ["dockerd", "--version"], packageName: "docker.io" },
  { component: "podman", argv: ["podman", "--version"], packageName: "podman" },
  { component: "gvisor", argv: ["runsc", "--version"], packageName: "runsc" },
] as const;

const maxChangelogBytes = 4 << 20;

/** Those that are here. One that does not say its version is left out: it could not be run either. */
export async function readInstalledVersions(): Promise<readonly Installed[]> {
  const found = await Promise.all(parts.map(readPart));
  return [...found.filter((one) => one !== undefined), kernel()];
}

async function readPart({
  component,
  argv,
  packageName,
}: (typeof parts)[number]): Promise<Installed | undefined> {
  const printed = await run(argv, { timeoutMs: 5_000 }).catch(() => undefined);
  const version = printed?.code === 0 ? versionIn(printed.stdout) : undefined;
  if (version === undefined) return undefined;
  const source = await packageOf(argv[0], packageName);
  if (source === undefined) return { component, version };
  return { component, version, package: source, mended: await mendedBy(packageName) };
}

/** The first word that begins like a version: after the program's name, or after the place of its source. */
export const versionIn = (text: string): string | undefined =>
  /(?:^|\s)v?(\d+\.\d[^\s,]*)/.exec(text.split("\n")[0] ?? "")?.[1];

/** Undefined for a program that no package of this name put there. */
async function packageOf(program: string, name: string): Promise<Installed["package"]> {
  const path = await findProgram(program);
  const owner = path && (await run(["dpkg-query", "--search", path]).catch(() => undefined));
  if (!owner || owner.code !== 0 || !owner.stdout.startsWith(`${name}:`)) return undefined;
  const shown = await run(["dpkg-query", "--show", "--showformat=${Version}", name]);
  return shown.code === 0 ? { name, version: shown.stdout.trim() } : undefined;
}

/** Where `run` looks for it, too. */
async function findProgram(name: string): Promise<string | undefined> {
  for (const directory of ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]) {
    const path = join(directory, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

/** Packages say which advisories a revision is about. Without that list, nothing is known. */
async function mendedBy(name: string): Promise<readonly string[]> {
  try {
    const packed = await readFile(`/usr/share/doc/${name}/changelog.Debian.gz`);
    const text = await promisify(gunzip)(packed, { maxOutputLength: maxChangelogBytes });
    return [...new Set(text.toString().match(/CVE-\d{4}-\d{4,}/g) ?? [])];
  } catch {
    return [];
  }
}

/** A distribution's kernel keeps one number for its releases and says the real one in its build: "Debian 6.1.119-1". */
export function kernel(running: string = release(), build: string = kernelBuild()): Installed {
  const debian = /\bDebian (\d+\.\d+\.\d+)/.exec(build)?.[1];
  return { component: "kernel", version: running, ...omitUndefined({ upstream: debian }) };
}
