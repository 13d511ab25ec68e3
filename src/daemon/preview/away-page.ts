/** A program of a box that redirects to another server: its address may carry data away, so a person reads it first. */
import type { IncomingMessage } from "node:http";
import { isProgramItself, type PreviewTarget, previewOrigin } from "./preview-host.ts";

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character]!);

/** The address that an answer leads away to; undefined where it stays in the preview or leads nowhere. */
export function awayAddress(
  { statusCode = 0, headers: { location } }: Pick<IncomingMessage, "statusCode" | "headers">,
  target: PreviewTarget,
  webPort: number,
): string | undefined {
  if (statusCode < 300 || statusCode > 399 || location === undefined) return undefined;
  const own = previewOrigin(target, webPort);
  // SECURITY: read as a browser reads it: `//host`, `/\host` and `\\host` lead away, too.
  if (!URL.canParse(location, own)) return location;
  const url = new URL(location, own);
  return url.origin === own || isProgramItself(url, target) ? undefined : url.href;
}

export function awayPage(address: string): string {
  const isWeb = /^https?:\/\//i.test(address);
  const shown = `<code>${escaped(address)}</code>`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Leave the preview?</title></head>
<body><h1>Leave the preview?</h1><p>The program in the box leads to another address. Nothing was sent there yet.</p>
<p>${shown}</p>${isWeb ? `<p><a rel="noreferrer" href="${escaped(address)}">Open it</a></p>` : ""}</body>
</html>
`;
}

export const awayHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-dns-prefetch-control": "off",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};
