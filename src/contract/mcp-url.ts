import { forbiddenRange } from "./network/address-ranges.ts";
import { canonicalHost, reservedName } from "./network/host-name.ts";

export type McpUrl =
  /** `isInClear`: it leaves the machine and its network without encryption. */
  | { readonly url: string; readonly isInClear: boolean }
  /** Ends a sentence that starts with the address. */
  | { readonly problem: string };

/** The address of an MCP server, as seen from the box: whether it is reached is up to the box's policy. */
export function parseMcpUrl(text: string): McpUrl {
  const url = /[\s\\]/.test(text) || !URL.canParse(text) ? undefined : new URL(text);
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    return { problem: "it is not an http or https address" };
  if (url.username !== "" || url.password !== "") return { problem: "it holds a user or a password" };
  const host = canonicalHost(url.hostname);
  if (host === undefined) return { problem: "its host cannot be read" };
  const isLocal =
    host.kind === "name" ? reservedName(host.name) !== undefined : forbiddenRange(host.address) !== undefined;
  return { url: url.href, isInClear: url.protocol === "http:" && !isLocal };
}
