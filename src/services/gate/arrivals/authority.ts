/** Whether what a request calls its host is the host its connection was judged for. */
import { canonicalHost, hostText } from "../../../contract/network/host-name.ts";

export interface NamedTarget {
  readonly host: string;
  readonly port: number;
}

/** `host` or `host:port`, canonical; undefined when it can be read in two ways. */
export function parseAuthority(text: string, defaultPort: number): NamedTarget | undefined {
  const match = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] === undefined ? undefined : canonicalHost(match[1]);
  const port = match?.[2] === undefined ? defaultPort : Number(match[2]);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  return { host: hostText(host), port };
}

/**
 * The Host header for the server, where it names the target; otherwise undefined. Without a port it means that of its
 * connection. SECURITY: not as it was written, because "\u00aapi.example.org" and "api.example.org." are the judged name only
 * when they are folded, and may be another site to the server.
 */
export function authorityFor(written: string, target: NamedTarget): string | undefined {
  // Nearly every request says exactly this, and needs no parsing.
  if (written === target.host) return written;
  const named = parseAuthority(written, target.port);
  if (named?.host !== target.host || named.port !== target.port) return undefined;
  const host = named.host.includes(":") ? `[${named.host}]` : named.host;
  return /:\d+$/.test(written) && !written.endsWith("]") ? `${host}:${named.port}` : host;
}

export function isSameName(text: string, host: string): boolean {
  if (text === host) return true;
  const canonical = canonicalHost(text);
  return canonical !== undefined && hostText(canonical) === host;
}

/** The target of a request to a proxy: `http://host[:port]/path`, and the path as it is sent on. */
export function parseAbsoluteTarget(text: string): (NamedTarget & { readonly path: string }) | undefined {
  const match = /^http:\/\/([^/?#@\\]+)((?:[/?][^#]*)?)$/i.exec(text);
  const target = match?.[1] === undefined ? undefined : parseAuthority(match[1], 80);
  if (target === undefined) return undefined;
  const rest = match?.[2] ?? "";
  return { ...target, path: rest.startsWith("/") ? rest : `/${rest}` };
}
