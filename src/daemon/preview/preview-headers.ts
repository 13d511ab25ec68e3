/** Which headers pass between a browser and a box, and how they are changed on the way. */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { cookieName, cookiePairs } from "../cookies.ts";
import { isProgramItself, type PreviewTarget, previewOrigin } from "./preview-host.ts";

/** Names that only the daemon gives and takes. */
export const ownCookiePrefix = "agentbox-";

const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
]);

/** SECURITY: nothing of what opens the daemon's own doors goes to a box, nor what a client claims about its way here. */
const notToBox = new Set(["host", "origin", "referer", "cookie", "agentbox-key", "forwarded"]);

/**
 * SECURITY: what would outlive the answer. A name is used again by the next box that gets it, and what an earlier one left in
 * the browser must not act there; reports would go to an address of the box's choosing.
 */
const notFromBox = new Set([
  "alt-svc",
  "strict-transport-security",
  "service-worker-allowed",
  "cache-control",
  "expires",
  "pragma",
  "nel",
  "report-to",
  "reporting-endpoints",
  "set-cookie",
  "location",
  "content-security-policy",
  // Its reports are requests to an address of the box's choosing, which no policy of ours stops.
  "content-security-policy-report-only",
  "connection-allowlist",
  "connection-allowlist-report-only",
]);

/**
 * SECURITY: a box without a way out must not get one through the browser of the person who looks at it. The page loads
 * from its own port only; a policy that the box sets besides can only narrow that.
 */
const previewPolicy = (target: PreviewTarget, webPort: number): string =>
  [
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:",
    `connect-src 'self' ${previewOrigin(target, webPort).replace("http:", "ws:")} data: blob:`,
    "form-action 'self'",
    "base-uri 'self'",
    "frame-ancestors 'self'",
    "webrtc 'block'",
  ].join("; ");

/**
 * SECURITY: the ways out that no content security policy stops in a browser: WebRTC, speculation rules, names that are
 * looked up early, and navigating the tab itself. Only Chromium has it, from version 152 on; it does not know `webrtc
 * 'block'` above.
 */
const connectionAllowlist = (target: PreviewTarget, webPort: number): string =>
  `(response-origin "${previewOrigin(target, webPort).replace("http:", "ws:")}/*");redirects=allow;webrtc=block`;

/** SECURITY: a policy of the box's own may narrow ours, but its reports would carry data to any address. */
const withoutReports = (policy: string): string =>
  policy
    .split(",")
    .map((one) =>
      one
        .split(";")
        .filter((directive) => !/^\s*report-(uri|to)(\s|$)/i.test(directive))
        .join(";"),
    )
    .join(",");

/** SECURITY: never the length: without it a body would be read as the next request or answer (smuggling). */
const namedBy = (connection: string | undefined): ReadonlySet<string> =>
  new Set(
    (connection ?? "")
      .split(",")
      .map((token) => token.trim().toLowerCase())
      .filter((token) => token !== "content-length"),
  );

/** The headers for the box's program: as if it were spoken to on its own port, because many refuse other names. */
export function headersToBox(
  request: IncomingMessage,
  target: PreviewTarget,
  webPort: number,
): OutgoingHttpHeaders {
  const named = namedBy(request.headers.connection);
  const headers: OutgoingHttpHeaders = Object.create(null) as OutgoingHttpHeaders;
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    const isDropped =
      hopByHop.has(name) || notToBox.has(name) || named.has(name) || name.startsWith("x-forwarded-");
    const isOwnToken = name === "authorization" && values.some((value) => /^bearer\s+abt_/i.test(value));
    if (!isDropped && !isOwnToken) headers[name] = values.length === 1 ? values[0]! : values;
  }
  const [own, theirs] = [previewOrigin(target, webPort), `http://localhost:${target.port}`];
  headers["host"] = `localhost:${target.port}`;
  if (request.headers.origin === own) headers["origin"] = theirs;
  const { referer } = request.headers;
  if (referer?.startsWith(`${own}/`)) headers["referer"] = theirs + referer.slice(own.length);
  const cookies = cookiesToBox(request.headers.cookie);
  if (cookies !== undefined) headers["cookie"] = cookies;
  headers["x-forwarded-host"] = own.slice("http://".length);
  headers["x-forwarded-proto"] = "http";
  // Otherwise a body of unknown length would have no end of its own.
  if (request.headers["transfer-encoding"] !== undefined) headers["transfer-encoding"] = "chunked";
  return headers;
}

const isOwnCookie = (pair: string): boolean =>
  cookieName(pair)
    .toLowerCase()
    .replace(/^__(host|secure)-/, "")
    .startsWith(ownCookiePrefix);

/** SECURITY: the dashboard's cookie belongs to a host, not to a port, and the preview's own opens the preview. */
function cookiesToBox(header: string | undefined): string | undefined {
  const passed = cookiePairs(header).filter((pair) => !isOwnCookie(pair));
  return passed.length === 0 ? undefined : passed.join("; ");
}

/** A cookie without a name could stand for any name once the browser sends it back. */
function cookieFromBox(cookie: string): string | undefined {
  const [pair = "", ...attributes] = cookie.split(";");
  if (cookieName(pair) === "" || isOwnCookie(pair)) return undefined;
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(";");
}

/** An answer of the box, as the browser gets it. */
export function headersFromBox(
  answer: IncomingMessage,
  target: PreviewTarget,
  webPort: number,
): OutgoingHttpHeaders {
  const named = namedBy(answer.headers.connection);
  const headers: OutgoingHttpHeaders = Object.create(null) as OutgoingHttpHeaders;
  for (const [name, values = []] of Object.entries(answer.headersDistinct)) {
    if (hopByHop.has(name) || notFromBox.has(name) || named.has(name)) continue;
    headers[name] = values.length === 1 ? values[0]! : values;
  }
  const cookies = (answer.headers["set-cookie"] ?? []).flatMap((cookie) => cookieFromBox(cookie) ?? []);
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  const { location } = answer.headers;
  if (location !== undefined) headers["location"] = locationFromBox(location, target, webPort);
  return {
    ...headers,
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=(), serial=(), clipboard-read=()",
    "connection-allowlist": connectionAllowlist(target, webPort),
    // With a comma, several policies are in force at once.
    "content-security-policy": [
      previewPolicy(target, webPort),
      ...(answer.headersDistinct["content-security-policy"] ?? []).map(withoutReports),
    ].join(", "),
  };
}

/** A program that redirects to the name it was spoken to by means itself. */
function locationFromBox(location: string, target: PreviewTarget, webPort: number): string {
  const url = URL.canParse(location) ? new URL(location) : undefined;
  if (url === undefined || !isProgramItself(url, target)) return location;
  return previewOrigin(target, webPort) + url.pathname + url.search + url.hash;
}
