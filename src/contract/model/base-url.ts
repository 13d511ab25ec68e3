/** Where a model provider may be. Its address gets the person's key and everything the agent reads. */
import { forbiddenRange } from "../network/address-ranges.ts";
import { parseExceptionAddress } from "../network/exception-address.ts";
import { canonicalHost, isOwnName, reservedName } from "../network/host-name.ts";

export type BaseUrl =
  /** Canonical, and without a slash at the end. */
  | { readonly url: string }
  /** `reason` ends a sentence that starts with the address. */
  | { readonly problem: "unreadable" | "in_clear" | "never_opened"; readonly reason: string };

/** SECURITY: these names are answered with the machine's own credentials, at any address. */
const metadataNames = new Set([
  "metadata",
  "metadata.goog",
  "metadata.google.internal",
  "instance-data",
  "instance-data.ec2.internal",
]);

export function parseBaseUrl(text: string): BaseUrl {
  // SECURITY: white space and backslashes are dropped or turned by URL parsers, so the text would read as another host.
  const url = /[\s\\]/.test(text) || !URL.canParse(text) ? undefined : new URL(text);
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    return { problem: "unreadable", reason: "it is not an http or https address" };
  if (url.username !== "" || url.password !== "")
    return { problem: "unreadable", reason: "it holds a user or a password" };
  if (/[?#]/.test(text)) return { problem: "unreadable", reason: "it has a query or a fragment" };
  const host = canonicalHost(url.hostname);
  if (host === undefined) return { problem: "unreadable", reason: "its host cannot be read" };
  const closed = host.kind === "name" ? closedName(host.name) : closedAddress(host.address);
  if (closed !== undefined) return { problem: "never_opened", reason: closed };
  const isLocal =
    host.kind === "name" ? reservedName(host.name) !== undefined : forbiddenRange(host.address) !== undefined;
  if (url.protocol === "http:" && !isLocal)
    return { problem: "in_clear", reason: "key and conversation would travel in the clear" };
  return { url: `${url.origin}${url.pathname}`.replace(/\/+$/, "") };
}

function closedName(name: string): string | undefined {
  if (metadataNames.has(name)) return "it hands out credentials of the machine";
  return isOwnName(name) ? "names under agentbox.internal exist in boxes only" : undefined;
}

/** A provider may be wherever an exception of the network may be. */
function closedAddress(address: string): string | undefined {
  const parsed = parseExceptionAddress(`${address.includes(":") ? `[${address}]` : address}:443`);
  return "problem" in parsed ? parsed.problem : undefined;
}
