/** The addresses that a named exception may open, with their port. */
import { forbiddenRange } from "./address-ranges.ts";
import { canonicalHost } from "./host-name.ts";

export type ExceptionAddress =
  | { readonly address: string; readonly port: number }
  /** Ends a sentence that starts with the address. */
  | { readonly problem: string };

/**
 * SECURITY: a reason opens a database or a local model, never what hands out the machine's own credentials
 * (metadata), and nothing that is more than one host.
 */
const openable = new Set([undefined, "private", "loopback", "carrier-grade NAT", "benchmark"]);

/** `10.0.0.5:5432` or `[fd00::5]:5432`, in canonical form. */
export function parseExceptionAddress(text: string): ExceptionAddress {
  const [, bracketed, plain, digits = ""] = /^(?:(\[[^\]]*\])|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = canonicalHost(bracketed ?? plain ?? "");
  const port = Number(digits);
  if (host?.kind === "name") return { problem: "it is a name, and names are opened with allow" };
  if (host === undefined || port < 1 || port > 65_535) return { problem: "it is not an address and a port" };
  const range = forbiddenRange(host.address);
  if (!openable.has(range)) return { problem: `the range "${range}" is never opened` };
  return { address: host.address, port };
}
