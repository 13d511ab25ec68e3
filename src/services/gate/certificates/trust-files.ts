/**
 * The files that make programs in a box trust the gate: the host's own authorities plus ours. They replace what the
 * box would see of the host's, so everything a program trusts outside a box it trusts inside.
 */
import { X509Certificate } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../../base/errors.ts";
import { ensureDirectory, removeTree, writeFileAtomic } from "../../../host/files.ts";
import { trustBundle } from "../../../contract/network/box-env.ts";
import type { Logger } from "../../../host/logger.ts";
import { runOk } from "../../../host/run.ts";
import { readSystemBundle } from "../../../host/server-trust.ts";
import type { CertificateAuthority } from "./certificate-authority.ts";
import { isJavaStore, withJavaCertificate } from "./java-store.ts";

export interface TrustFile {
  readonly source: string;
  readonly target: string;
}

const javaStores = ["/etc/ssl/certs/java/cacerts", "/etc/pki/java/cacerts"];

const javaTarget = "/etc/ssl/certs/java/cacerts";
const alias = "agentbox";

export async function writeTrustFiles(
  dir: string,
  authority: CertificateAuthority,
  logger: Logger,
): Promise<readonly TrustFile[]> {
  const bundle = join(dir, "bundle.pem");
  const system = await readSystemBundle();
  await writeFileAtomic(bundle, `${system.trimEnd()}\n${authority.certPem}`.trimStart(), { mode: 0o644 });
  const files: TrustFile[] = [{ source: bundle, target: trustBundle }];
  try {
    const java = await writeJavaStore(dir, authority);
    if (java !== undefined) files.push({ source: java, target: javaTarget });
  } catch (error) {
    logger.warn({ error: messageOf(error) }, "Java programs in boxes will not trust the gate");
  }
  return files;
}

async function writeJavaStore(dir: string, authority: CertificateAuthority): Promise<string | undefined> {
  const keytool = await realpath("/usr/bin/keytool").catch(() => undefined);
  const ofJava = keytool === undefined ? [] : [join(dirname(keytool), "../lib/security/cacerts")];
  const path = await findFirst([...javaStores, ...ofJava]);
  if (path === undefined) return undefined;
  const result = join(dir, "java-cacerts");
  if (await isNewerThan(result, [path, authority.certPath])) return result;
  const store = await readFile(path);
  if (isJavaStore(store)) {
    const { raw, validFrom } = new X509Certificate(authority.certPem);
    const certificate = { alias, der: raw, madeAtMs: Date.parse(validFrom) };
    await writeFileAtomic(result, withJavaCertificate(store, certificate), { mode: 0o644 });
    return result;
  }
  return keytool === undefined
    ? undefined
    : await importWithKeytool(keytool, store, authority, { dir, result });
}

/** For the other formats of a store. A JVM takes a second to start. */
async function importWithKeytool(
  keytool: string,
  store: Buffer,
  authority: CertificateAuthority,
  { dir, result }: { readonly dir: string; readonly result: string },
): Promise<string> {
  // keytool writes the store in place, so it works on a copy that no box can see.
  const work = join(dir, "java.tmp");
  await removeTree(work);
  await ensureDirectory(work, { mode: 0o700 });
  try {
    const copy = join(work, "cacerts");
    await writeFileAtomic(copy, store);
    // The password protects nothing: a store of public certificates has this one everywhere.
    const common = ["-noprompt", "-storepass", "changeit", "-keystore", copy];
    await runOk([keytool, "-importcert", ...common, "-alias", alias, "-file", authority.certPath]);
    await writeFileAtomic(result, await readFile(copy), { mode: 0o644 });
  } finally {
    await removeTree(work);
  }
  return result;
}

async function findFirst(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    if ((await stat(path).catch(() => undefined))?.isFile()) return path;
  }
  return undefined;
}

async function isNewerThan(path: string, sources: readonly string[]): Promise<boolean> {
  const made = await stat(path).catch(() => undefined);
  if (made === undefined) return false;
  const times = await Promise.all(sources.map(async (source) => (await stat(source)).mtimeMs));
  return times.every((time) => time < made.mtimeMs);
}
