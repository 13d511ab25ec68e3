import { X509Certificate } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../host/clock.ts";
import { silentLogger } from "../../../host/logger.ts";
import { openCertificateAuthority } from "./certificate-authority.ts";
import { LeafContexts } from "./leaf-contexts.ts";
import { writeTrustFiles } from "./trust-files.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "gate-ca-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const modeOf = async (name: string): Promise<number> => (await stat(join(dir, name))).mode & 0o777;

it("is made once, with a key that only its owner reads", async () => {
  const made = await openCertificateAuthority(dir, systemClock);
  expect(await modeOf("ca.key")).toBe(0o600);
  expect(await modeOf("ca.pem")).toBe(0o644);
  await chmod(join(dir, "ca.key"), 0o644);
  const again = await openCertificateAuthority(dir, systemClock);
  expect(again.certPem).toBe(made.certPem);
  expect(await modeOf("ca.key")).toBe(0o600);
});

it("signs short-lived certificates for one name", async () => {
  const authority = await openCertificateAuthority(dir, systemClock);
  const root = new X509Certificate(authority.certPem);
  const leaf = new X509Certificate(authority.issue("www.example.org").chainPem);
  expect(root.ca).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.verify(root.publicKey)).toBe(true);
  expect(leaf.checkIssued(root)).toBe(true);
  expect(leaf.checkHost("www.example.org")).toBe("www.example.org");
  expect(leaf.checkHost("example.org")).toBeUndefined();
  expect(Date.parse(leaf.validTo) - Date.now()).toBeLessThan(7 * 86_400_000);
});

it("refuses a key that is damaged or not its own", async () => {
  await openCertificateAuthority(dir, systemClock);
  await writeFile(join(dir, "ca.key"), "nonsense");
  await expect(openCertificateAuthority(dir, systemClock)).rejects.toMatchObject({
    code: "gate.start_failed",
  });
});

it("gives boxes the host's authorities and its own, and never the key", async () => {
  const authority = await openCertificateAuthority(dir, systemClock);
  const files = await writeTrustFiles(dir, authority, silentLogger);
  expect(files[0]).toEqual({ source: join(dir, "bundle.pem"), target: "/etc/ssl/certs/ca-certificates.crt" });
  const bundle = await readFile(join(dir, "bundle.pem"), "utf8");
  expect(bundle.endsWith(authority.certPem)).toBe(true);
  expect(bundle).not.toContain("PRIVATE KEY");
  expect(await modeOf("bundle.pem")).toBe(0o644);
});

it("keeps no more contexts than it may", async () => {
  const contexts = new LeafContexts(await openCertificateAuthority(dir, systemClock), systemClock, 2);
  const first = contexts.get("a.example.org");
  expect(contexts.get("a.example.org")).toBe(first);
  contexts.get("b.example.org");
  contexts.get("c.example.org");
  expect(contexts.size).toBe(2);
  expect(contexts.get("a.example.org")).not.toBe(first);
});
