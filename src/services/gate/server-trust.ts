/** The authorities that servers must be signed by: those of the host, as its own programs check them. */
import { readFile } from "node:fs/promises";
import { type SecureContext, createSecureContext, rootCertificates } from "node:tls";
import { readHostVariable } from "../../host/env.ts";
import { readSystemBundle } from "./trust-files.ts";

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
