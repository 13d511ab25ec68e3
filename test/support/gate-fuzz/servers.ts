/** Servers of five makes, as they are installed, and one of our own that means harm. Each tells what requests it has read. */
import { createHash } from "node:crypto";
import { type RequestListener, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, type Server, type Socket, createServer as createTcpServer } from "node:net";
import { createServer as createRawTlsServer } from "node:tls";
import { once } from "node:events";
import { serverCertificate } from "../../../src/services/gate/fixtures/gate.fixture.ts";
import { hostileSocket } from "./hostile-server.ts";
import { host } from "./exchange.ts";
import { type ProgramServer, startApache, startCaddy, startNginx, startPython } from "./program-servers.ts";

/** One request as a server has read it. */
export interface Sighting {
  readonly server: string;
  readonly isSecure?: boolean;
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly authorization: string;
  /** Of a body that came whole, as far as the server says so. */
  readonly digest?: string;
}

export interface FuzzServer extends AsyncDisposable {
  readonly name: string;
  readonly http: number;
  readonly https: number;
  /** The bytes since the last call. */
  sightings(): Sighting[];
}

export const digestOf = (body: Uint8Array): string => createHash("sha1").update(body).digest("hex");

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

function taking(seen: Sighting[]): () => Sighting[] {
  return () => seen.splice(0);
}

/** Notes what it reads, and does what the first part of the path says. */
function nodeListener(server: string, seen: Sighting[]): RequestListener {
  return (request, response) => {
    const { method = "", url = "", headers } = request;
    const sighting = {
      server,
      method,
      target: url,
      host: headers.host ?? "",
      authorization: headers.authorization ?? "",
    };
    request.on("error", () => undefined);
    response.setHeader("X-Seen", url);
    const behaviour = url.split("/")[1];
    if (behaviour === "early" || (behaviour === "limited" && Number(headers["content-length"] ?? 99) > 10)) {
      seen.push(sighting);
      response.end("early");
      return;
    }
    const hash = createHash("sha1");
    request.on("data", (chunk: Buffer) => hash.update(chunk));
    request.on("close", () => {
      if (!request.complete) seen.push(sighting);
    });
    request.on("end", () => {
      const digest = hash.digest("hex");
      seen.push({ ...sighting, digest });
      if (behaviour === "close") response.setHeader("Connection", "close");
      if (behaviour === "none" || behaviour === "not-modified")
        response.statusCode = behaviour === "none" ? 204 : 304;
      else response.setHeader("X-Size", digest.length * 2);
      // nginx takes a hint from behind for the answer.
      if (behaviour === "hints" && server !== "behind nginx")
        response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      if (behaviour === "chunked" && method !== "HEAD") {
        response.setHeader("Trailer", "X-Late");
        response.write(digest);
        response.addTrailers({ "X-Late": "a" });
        response.end(digest);
      } else response.end(digest + digest);
    });
  };
}

async function openServer(
  name: string,
  seen: Sighting[],
  { plain, secure }: { plain: Server; secure: Server },
): Promise<FuzzServer> {
  const sockets = new Set<Socket>();
  for (const server of [plain, secure])
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => sockets.delete(socket));
    });
  return {
    name,
    http: await listening(plain),
    https: await listening(secure),
    sightings: taking(seen),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([plain, secure].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

async function startNode(): Promise<FuzzServer> {
  const seen: Sighting[] = [];
  const listener = nodeListener("node", seen);
  const options = { keepAliveTimeout: 3_000 };
  const secure = createTlsServer({ ...serverCertificate(host), ...options }, listener);
  return await openServer("node", seen, { plain: createServer(options, listener), secure });
}

async function startHostile(): Promise<FuzzServer> {
  const seen: Sighting[] = [];
  const accept = (socket: Socket): void =>
    hostileSocket(socket, (one) => void seen.push({ server: "hostile", ...one }));
  const secure = createRawTlsServer(serverCertificate(host), accept);
  return await openServer("hostile", seen, { plain: createTcpServer(accept), secure });
}

/** A server program with one of ours behind it, which reads the bodies. */
async function withWitness(start: (witness: number) => Promise<ProgramServer>): Promise<FuzzServer> {
  const behind: Sighting[] = [];
  const witness = createServer({ keepAliveTimeout: 60_000 });
  const port = await listening(witness);
  const front = await start(port);
  witness.on("request", nodeListener(`behind ${front.name}`, behind));
  return {
    name: front.name,
    http: front.http,
    https: front.https,
    sightings: () => [...front.sightings(), ...behind.splice(0)],
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      witness.closeAllConnections();
      await new Promise((resolve) => witness.close(resolve));
    },
  };
}

export const servers: Readonly<Record<string, () => Promise<FuzzServer>>> = {
  node: startNode,
  hostile: startHostile,
  python: startPython,
  nginx: () => withWitness(startNginx),
  apache: () => withWitness(startApache),
  caddy: () => withWitness(startCaddy),
};
/** The program that each needs, where it is not this one. */
export const serverPrograms: Readonly<Record<string, string>> = {
  python: "python3",
  nginx: "nginx",
  apache: "apache2",
  caddy: "caddy",
};
