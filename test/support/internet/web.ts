/** Web servers of the test's internet: plain and encrypted, HTTP/1.1, HTTP/2 and WebSocket, files and git. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { Server, Socket } from "node:net";
import { join, normalize } from "node:path";
import { WebSocketServer } from "ws";
import { mayUseGit, serveCredentialed, wantsCredential } from "./credentialed.ts";
import { arrived } from "./log.ts";

export interface WebOptions {
  readonly key: string;
  readonly certificate: string;
  /** One directory for each host name whose files are served. */
  readonly sites: string;
  readonly httpPorts: readonly number[];
  readonly httpsPorts: readonly number[];
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

const hostOf = (request: Request): string =>
  (request.headers[":authority"] ?? request.headers.host ?? "").toString().replace(/:\d+$/, "");

/** git's own program for serving repositories over HTTP. */
function serveGit(sites: string, request: Request, response: Response, url: URL): void {
  const host = hostOf(request);
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: join(sites, host),
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"]?.toString() ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"]?.toString() ?? "",
      GIT_PROTOCOL: request.headers["git-protocol"]?.toString() ?? "",
      // A client with a credential may push where the repository's own settings let it.
      ...(wantsCredential(host) ? { REMOTE_USER: "someone" } : {}),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(child.stdin);
  child.stdin.on("error", () => undefined);
  const parts: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => parts.push(chunk));
  child.on("close", () => {
    const all = Buffer.concat(parts);
    const end = all.indexOf("\r\n\r\n");
    const headers = all.subarray(0, end).toString().split("\r\n");
    for (const line of headers) {
      const [name = "", value = ""] = line.split(": ", 2);
      if (name.toLowerCase() === "status") response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(all.subarray(end + 4));
  });
}

function serveFile(file: string, response: Response): void {
  const size = statSync(file, { throwIfNoEntry: false });
  if (size?.isFile() !== true) {
    response.statusCode = 404;
    response.end();
    return;
  }
  response.setHeader("content-length", size.size);
  response.setHeader("content-type", file.endsWith(".html") ? "text/html" : "application/octet-stream");
  createReadStream(file).pipe(response as ServerResponse);
}

function answer(request: Request, response: Response, sites: string): void {
  const host = hostOf(request);
  const log = (bodyBytes: number) =>
    arrived({
      kind: "http",
      host,
      method: request.method ?? "",
      url: request.url ?? "",
      version: request.httpVersion,
      headers: request.headers,
      bodyBytes,
    });
  response.on("error", () => undefined);
  const url = new URL(request.url ?? "/", "http://site");
  if (/\.git\//.test(url.pathname)) {
    log(0);
    if (!wantsCredential(host) || mayUseGit(request)) return serveGit(sites, request, response, url);
    response.statusCode = 401;
    response.setHeader("www-authenticate", 'Basic realm="git"');
    return void response.end();
  }
  if (url.pathname === "/slow") {
    // An answer that goes on until the client ends it.
    log(0);
    response.setHeader("content-type", "text/plain");
    const timer = setInterval(() => (response as ServerResponse).write(".\n"), 50);
    response.on("close", () => clearInterval(timer));
    return;
  }
  let bodyBytes = 0;
  const kept: Buffer[] = [];
  request.on("data", (chunk: Buffer) => {
    bodyBytes += chunk.length;
    if (wantsCredential(host)) kept.push(chunk);
  });
  request.on("end", () => {
    log(bodyBytes);
    if (wantsCredential(host)) return serveCredentialed(host, request, response, Buffer.concat(kept));
    if (url.pathname.startsWith("/files/")) {
      const file = normalize(decodeURIComponent(url.pathname.slice(6)));
      serveFile(join(sites, host, file.endsWith("/") ? `${file}index.html` : file), response);
      return;
    }
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ from: "the internet", host, method: request.method, path: request.url, bodyBytes }),
    );
  });
}

function echoWebSockets(server: Server): void {
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) =>
    sockets.handleUpgrade(request, socket, head, (peer) => {
      arrived({
        kind: "http",
        host: hostOf(request),
        method: "WEBSOCKET",
        url: request.url ?? "",
        version: "1.1",
        headers: request.headers,
        bodyBytes: 0,
      });
      peer.on("message", (message: Buffer) => peer.send(`echo ${message.toString()}`));
      if (hostOf(request) === "mirror.test") peer.send(`you are ${request.headers.authorization}, the end`);
    }),
  );
}

const countConnections = (server: Server): void =>
  void server.on("connection", (socket: Socket) => {
    socket.on("error", () => undefined);
    arrived({
      kind: "tcp",
      address: (socket.localAddress ?? "").replace("::ffff:", ""),
      port: socket.localPort ?? 0,
    });
  });

export async function serveWeb(options: WebOptions): Promise<void> {
  const secure = {
    key: readFileSync(options.key),
    cert: readFileSync(options.certificate),
    allowHTTP1: true,
  };
  const listening = [
    ...options.httpPorts.map((port) => ({
      port,
      server: createServer((request, response) => answer(request, response, options.sites)),
    })),
    ...options.httpsPorts.map((port) => ({
      port,
      server: createSecureServer(secure, (request, response) => answer(request, response, options.sites)),
    })),
  ];
  for (const { port, server } of listening) {
    server.on("tlsClientError", () => undefined);
    echoWebSockets(server);
    countConnections(server);
    server.listen(port, "::");
    await once(server, "listening");
  }
}
