/** The authorities that servers must be signed by: those of the host, as its own programs check them. */
import { readFile } from "node:fs/promises";
import { type SecureContext, createSecureContext, rootCertificates } from "node:tls";
import { readHostVariable } from "./env.ts";

/** Where Debian, Fedora, Alpine and SUSE keep theirs; the first that is there is taken. */
const systemBundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/cert.pem",
  "/etc/ssl/ca-bundle.pem",
];

/** The host's trusted certificates, as PEM; empty when its bundle is in none of the usual places. */
export async function readSystemBundle(): Promise<string> {
  for (const path of systemBundles) {
    try {
      return await readFile(path, "utf8");
    } catch {
      // Not on this distribution.
    }
  }
  return "";
}

export async function readServerTrust(extra: readonly string[]): Promise<SecureContext> {
  const system = await readSystemBundle();
  const added = readHostVariable("NODE_EXTRA_CA_CERTS");
  return createSecureContext({
    ca: [
      // Without a bundle the list that comes with Node is the best there is.
      ...(system === "" ? rootCertificates : [system]),
      ...(added === undefined ? [] : [await readFile(added, "utf8").catch(() => "")]).filter(Boolean),
      ...extra,
    ],
    minVersion: "TLSv1.2",
  });
}
