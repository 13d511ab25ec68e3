/** The files of the dashboard, as they were built. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentBoxError } from "../../base/errors.ts";
import { pagePolicy } from "./headers.ts";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** SECURITY: one plain name, so that no path leads out of the directory; nothing hidden, nothing without a known type. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;
const hashedName = /-[A-Z0-9]{8}\.[a-z0-9]+$/;

/** Answers a GET below the root: a file, or the page itself for every address that the page understands. */
export async function sendAsset(
  dir: URL,
  pathname: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD")
    throw new AgentBoxError("request.method_not_allowed", "The dashboard's files can only be read.");
  const name = pathname.slice(1);
  const extension = extname(name);
  if (extension === "") return sendPage(dir, response);
  const type = types[extension];
  if (type === undefined || !plainName.test(name) || name === "index.html") throw noSuchFile(pathname);
  const takesGzip = /\bgzip\b/.test(request.headers["accept-encoding"]?.toString() ?? "");
  const zipped = takesGzip ? await readAsset(dir, `${name}.gz`) : undefined;
  const content = zipped ?? (await readAsset(dir, name));
  if (content === undefined) throw noSuchFile(pathname);
  response.writeHead(200, {
    "content-type": type,
    "content-length": content.length,
    vary: "accept-encoding",
    ...(zipped === undefined ? {} : { "content-encoding": "gzip" }),
    // A file with its content's hash in its name never changes.
    "cache-control": hashedName.test(name) ? "public, max-age=31536000, immutable" : "no-cache",
  });
  response.end(content);
}

async function sendPage(dir: URL, response: ServerResponse): Promise<void> {
  const page = await readAsset(dir, "index.html");
  if (page === undefined) {
    throw new AgentBoxError("request.not_found", "The dashboard is not part of this installation.", {
      hint: "Build it: npm run build",
    });
  }
  const nonce = randomBytes(16).toString("base64url");
  const content = page.toString().replaceAll("%NONCE%", nonce);
  response.writeHead(200, {
    "content-type": types[".html"],
    "content-length": Buffer.byteLength(content),
    "content-security-policy": pagePolicy(nonce),
    "cache-control": "no-store",
  });
  response.end(content);
}

const readAsset = (dir: URL, name: string): Promise<Buffer | undefined> =>
  readFile(fileURLToPath(new URL(name, dir))).catch(() => undefined);

const noSuchFile = (pathname: string): AgentBoxError =>
  new AgentBoxError("request.not_found", `There is no ${pathname.slice(0, 200)}.`);
