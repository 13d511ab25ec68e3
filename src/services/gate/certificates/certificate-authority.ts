/**
 * The certificate authority of this installation: made once, its key readable by its owner only and never given to
 * a box. It signs short-lived certificates for the names the gate inspects.
 */
import {
  type KeyObject,
  X509Certificate,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
} from "node:crypto";
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { AgentBoxError, messageOf, systemCode } from "../../../base/errors.ts";
import { ensureDirectory, writeFileAtomic } from "../../../host/files.ts";
import { makeCertificate } from "./certificate.ts";

const dayMs = 86_400_000;
const authorityDays = 3_650;
const leafDays = 2;
const authorityName = "AgentBox gate";

export interface Leaf {
  readonly keyPem: string;
  /** The leaf and then the authority, as a TLS server sends them. */
  readonly chainPem: string;
  /** When to make the next one, a day before it ends. */
  readonly renewAtMs: number;
}

export interface CertificateAuthority {
  readonly certPath: string;
  readonly certPem: string;
  issue(host: string): Leaf;
}

/** Opens the authority in `dir`, and makes it when there is none. */
export async function openCertificateAuthority(dir: string, clock: Clock): Promise<CertificateAuthority> {
  // SECURITY: a box may pass through to the bundle, but not list; the key itself is owner-only.
  await ensureDirectory(dir, { mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const keyPath = join(dir, "ca.key");
  const certPath = join(dir, "ca.pem");
  const pair =
    (await readAuthority(keyPath, certPath, clock)) ?? (await makeAuthority(keyPath, certPath, clock));
  // One key for all leaves of this process: it never touches a disk and ends with the process.
  const leafKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const leafKeyPem = toPem(leafKeys.privateKey);
  const publicKey = createPublicKey(pair.privateKey);
  return {
    certPath,
    certPem: pair.certPem,
    issue(host) {
      const now = clock.nowMs();
      const leaf = makeCertificate({
        // The name is in the extension: a common name has at most 64 characters, and no client reads it.
        commonName: "AgentBox gate leaf",
        issuerName: authorityName,
        publicKey: leafKeys.publicKey,
        issuerPublicKey: publicKey,
        issuerPrivateKey: pair.privateKey,
        notBeforeMs: now - dayMs,
        notAfterMs: now + leafDays * dayMs,
        dnsName: host,
      });
      return {
        keyPem: leafKeyPem,
        chainPem: leaf + pair.certPem,
        renewAtMs: now + (leafDays - 1) * dayMs,
      };
    },
  };
}

interface Pair {
  readonly privateKey: KeyObject;
  readonly certPem: string;
}

async function readAuthority(keyPath: string, certPath: string, clock: Clock): Promise<Pair | undefined> {
  try {
    const privateKey = createPrivateKey(await readFile(keyPath));
    // SECURITY: a key whose mode was widened by a copy or a restore is owner-only again before it is used.
    await chmod(keyPath, 0o600);
    const certPem = await readFile(certPath, "utf8");
    const certificate = new X509Certificate(certPem);
    if (!certificate.checkPrivateKey(privateKey)) throw failure("does not belong to its key", keyPath);
    const isFresh = Date.parse(certificate.validTo) - clock.nowMs() > 30 * dayMs;
    return isFresh ? { privateKey, certPem } : undefined;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    if (error instanceof AgentBoxError) throw error;
    throw failure(`cannot be read: ${messageOf(error)}`, keyPath, error);
  }
}

async function makeAuthority(keyPath: string, certPath: string, clock: Clock): Promise<Pair> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const now = clock.nowMs();
  const certPem = makeCertificate({
    commonName: authorityName,
    issuerName: authorityName,
    publicKey,
    issuerPublicKey: publicKey,
    issuerPrivateKey: privateKey,
    notBeforeMs: now - dayMs,
    notAfterMs: now + authorityDays * dayMs,
  });
  await writeFileAtomic(keyPath, toPem(privateKey), { mode: 0o600 });
  await writeFileAtomic(certPath, certPem, { mode: 0o644 });
  return { privateKey, certPem };
}

const toPem = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

function failure(what: string, path: string, cause?: unknown): AgentBoxError {
  return new AgentBoxError("gate.start_failed", `The gate's certificate ${what}.`, {
    hint: "Restore ca.key and ca.pem, or remove both: a new authority is made then.",
    facts: { path },
    cause,
  });
}
