/**
 * Names under which ports of boxes are seen: `p3000-shop.localhost`. Browsers take every name below localhost to this
 * machine, and each name is a site of its own: what a box serves can touch neither the dashboard nor another box.
 */
import { boxNamePattern } from "../../contract/box.ts";

export interface PreviewTarget {
  readonly port: number;
  readonly box: string;
}

const suffix = ".localhost";
const form = /^p([1-9]\d{0,4})-([a-z0-9-]{2,48})$/;

/** Whether a Host header is one that only previews answer to; whether it names anything is another question. */
export function isPreviewHost(host: string | undefined): boolean {
  return host !== undefined && /\.localhost\.?(?::\d*)?$/i.test(host.trim());
}

/**
 * SECURITY: the whole of what a client can say about where a request goes. A number and a box's name come out, or nothing:
 * no address, no DNS name and no other port of the host can be meant.
 */
export function parsePreviewHost(host: string | undefined, webPort: number): PreviewTarget | undefined {
  const end = `${suffix}:${webPort}`;
  if (host === undefined || !host.endsWith(end)) return undefined;
  const [, port, box] = form.exec(host.slice(0, -end.length)) ?? [];
  if (port === undefined || box === undefined || !boxNamePattern.test(box)) return undefined;
  return Number(port) <= 65_535 ? { port: Number(port), box } : undefined;
}

/** Whether an address is the program's own port, by the names that it knows itself by. */
export const isProgramItself = (url: URL, { port }: PreviewTarget): boolean =>
  url.protocol === "http:" &&
  ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname) &&
  url.port === String(port);

export const previewOrigin = ({ port, box }: PreviewTarget, webPort: number): string =>
  `http://p${port}-${box}${suffix}:${webPort}`;
