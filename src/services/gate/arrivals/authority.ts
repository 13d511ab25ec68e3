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

/** A Host header without a port means the port of its connection; with one it must be that port. */
export function namesTarget(authority: string, target: NamedTarget): boolean {
  // Nearly every request says exactly this, and needs no parsing.
  if (authority === target.host) return true;
  const named = parseAuthority(authority, target.port);
  return named?.host === target.host && named.port === target.port;
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
