/** A package registry on loopback that speaks as much of npm's protocol as `npm install` needs. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runOk } from "../../host/run.ts";

export interface PublishedPackage {
  readonly name: string;
  readonly version: string;
  readonly files: Readonly<Record<string, string>>;
  /** More of its package.json. */
  readonly manifest?: Readonly<Record<string, unknown>>;
}

export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** Paths that were asked for. */
  readonly requests: readonly string[];
  /** Returns the integrity. Executable: what lies in `bin/`. */
  publish(published: PublishedPackage): Promise<string>;
  /** From now on archives are asked for and never sent; resolves when the first one is asked for. */
  hold(): Promise<{ readonly asked: Promise<void>; readonly closed: Promise<void> }>;
}

interface Stored {
  readonly manifest: Record<string, unknown>;
  readonly archive: Buffer;
}

export async function openRegistry(): Promise<Registry> {
  const packages = new Map<string, Map<string, Stored>>();
  const requests: string[] = [];
  let held: ((response: ServerResponse) => void) | undefined;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    requests.push(path);
    const archive = /^\/-\/(.+)@([^@]+)\.tgz$/.exec(path);
    if (archive) {
      if (held) return held(response);
      const stored = packages.get(archive[1]!)?.get(archive[2]!);
      return stored ? response.end(stored.archive) : response.writeHead(404).end("{}");
    }
    const versions = packages.get(path.slice(1));
    if (!versions) return response.writeHead(404).end(JSON.stringify({ error: "not found" }));
    const all = Object.fromEntries([...versions].map(([version, { manifest }]) => [version, manifest]));
    const latest = [...versions.keys()].at(-1);
    return response.end(JSON.stringify({ name: path.slice(1), "dist-tags": { latest }, versions: all }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  return {
    url,
    requests,
    async publish(published) {
      const { name, version } = published;
      const archive = await pack(published);
      const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
      const dist = { tarball: `${url}-/${encodeURIComponent(name)}@${version}.tgz`, integrity };
      const versions = packages.get(name) ?? new Map<string, Stored>();
      packages.set(name, versions.set(version, { manifest: { ...manifestOf(published), dist }, archive }));
      return integrity;
    },
    async hold() {
      let hasClosed = (): void => undefined;
      const closed = new Promise<void>((resolve) => {
        hasClosed = resolve;
      });
      const asked = new Promise<void>((resolve) => {
        held = (response) => {
          response.on("close", hasClosed);
          resolve();
        };
      });
      return { asked, closed };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const manifestOf = ({ name, version, manifest }: PublishedPackage) => ({ name, version, ...manifest });

async function pack(published: PublishedPackage): Promise<Buffer> {
  const dir = await mkdtemp(join(tmpdir(), "abx-pack-"));
  try {
    const files = { ...published.files, "package.json": JSON.stringify(manifestOf(published)) };
    for (const [path, text] of Object.entries(files)) {
      const file = join(dir, "package", path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { mode: path.includes("bin/") ? 0o755 : 0o644 });
    }
    await runOk(["tar", "-czf", join(dir, "package.tgz"), "-C", dir, "package"]);
    return await readFile(join(dir, "package.tgz"));
  } finally {
    await rm(dir, { recursive: true });
  }
}
