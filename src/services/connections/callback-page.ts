/** The page at the end of a sign-in: plain, nothing to load, nothing to run, and not kept by the browser. */
import type { OutgoingHttpHeaders } from "node:http";

export const pageHeaders: OutgoingHttpHeaders = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  // SECURITY: the address of this page has the code; no later page is told of it.
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close",
};

export const callbackPage = (isConnected: boolean, message: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>AgentBox</title><h1>${
    isConnected ? "Connected" : "Not connected"
  }</h1><p>${escapeHtml(message)}</p><p>You can close this page.</p></html>\n`;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** SECURITY: names and codes in the message come from outside; as markup they would run in the person's browser. */
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => entities[c]!);
