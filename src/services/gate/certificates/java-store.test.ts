import { createHash, generateKeyPairSync, X509Certificate } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { run } from "../../../host/run.ts";
import { makeCertificate } from "./certificate.ts";
import { isJavaStore, withJavaCertificate } from "./java-store.ts";

const hostStore = "/etc/ssl/certs/java/cacerts";
const keytool = "/usr/bin/keytool";
const dir = mkdtempSync(join(tmpdir(), "java-store-"));
afterAll(() => rmSync(dir, { recursive: true }));

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const { raw, fingerprint256 } = new X509Certificate(
  makeCertificate({
    commonName: "AgentBox gate",
    issuerName: "AgentBox gate",
    publicKey,
    issuerPublicKey: publicKey,
    issuerPrivateKey: privateKey,
    notBeforeMs: Date.UTC(2026, 0, 1),
    notAfterMs: Date.UTC(2036, 0, 1),
  }),
);
const certificate = { alias: "agentbox", der: raw, madeAtMs: Date.UTC(2026, 0, 1) };

/** A store without entries, as the format describes it. */
function emptyStore(password = "changeit"): Buffer {
  const head = Buffer.from("feedfeed0000000200000000", "hex");
  const digest = createHash("sha1")
    .update(Buffer.from(password, "utf16le").swap16())
    .update("Mighty Aphrodite");
  return Buffer.concat([head, digest.update(head).digest()]);
}

describe("a Java key store", () => {
  it("gets one entry more and keeps all that it has, byte for byte", () => {
    const one = withJavaCertificate(emptyStore(), certificate);
    const two = withJavaCertificate(one, { ...certificate, alias: "another" });
    expect([one, two].map((store) => store.readUInt32BE(8))).toEqual([1, 2]);
    expect(two.subarray(12, one.length - 20)).toEqual(one.subarray(12, -20));
    expect(one.includes(raw)).toBe(true);
  });

  it("is refused with another password, a changed byte or a missing end", () => {
    const one = withJavaCertificate(emptyStore(), certificate);
    const changed = Buffer.from(one);
    changed[30]! ^= 1;
    for (const store of [emptyStore("secret"), changed, one.subarray(0, -1), Buffer.alloc(0)])
      expect(() => withJavaCertificate(store, certificate)).toThrow(/damaged or has another password/);
  });

  it("is told from other formats", () => {
    expect(isJavaStore(emptyStore())).toBe(true);
    for (const other of [Buffer.from("3082010a020103", "hex"), Buffer.alloc(64), Buffer.alloc(4)])
      expect(isJavaStore(other)).toBe(false);
  });

  it("of the host, with one more, is read by Java", async (ctx) => {
    if (!existsSync(keytool) || !existsSync(hostStore)) ctx.skip("needs keytool and a Java key store");
    const before = readFileSync(hostStore);
    if (!isJavaStore(before)) ctx.skip("the host's Java key store has another format");
    const path = join(dir, "cacerts");
    writeFileSync(path, withJavaCertificate(before, certificate));
    const { code, stdout } = await run([keytool, "-list", "-storepass", "changeit", "-keystore", path]);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain(`contains ${before.readUInt32BE(8) + 1} entries`);
    expect(stdout.slice(stdout.indexOf("agentbox"))).toContain(fingerprint256);
  });
});
