import {
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AgentBoxError, isAgentBoxError, messageOf } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Using } from "../../core/using.ts";
import { openPort } from "../../core/exec/open-port.ts";
import { awayAddress, awayHeaders, awayPage } from "./away-page.ts";
import { PortSocket } from "./port-socket.ts";
import { headersFromBox, headersToBox } from "./preview-headers.ts";
import type { PreviewGrant } from "./preview-passes.ts";

/** A server that compiles before it answers takes a while. */
const answerMs = 120_000;
const maxHeaderBytes = 32 * 1024;

/** Passes one request to the box and its answer back. Resolves when both are through. */
export async function forwardRequest(
  core: Using<"clock" | "getBox" | "live">,
  grant: PreviewGrant,
  webPort: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const port = new PortSocket(await openPort(core, grant));
  response.on("close", () => port.destroy());
  const outgoing = askBox(port, request, headersToBox(request, grant, webPort));
  // A box that answers before it has read everything is in its right.
  request.on("error", () => port.destroy());
  request.pipe(outgoing);
  const answer = await answerOf(core, outgoing);
  if (answer.statusCode === undefined || answer.statusCode < 200 || answer.statusCode > 599)
    throw brokenAnswer("an invalid status");
  const away = awayAddress(answer, grant, webPort);
  if (away !== undefined) {
    port.destroy();
    response.writeHead(403, awayHeaders);
    return void response.end(awayPage(away));
  }
  writeHead(response, answer.statusCode, headersFromBox(answer, grant, webPort));
  try {
    await pipeline(answer, response);
  } catch {
    // One of them went away in the middle; the other is told by the cut.
    response.destroy();
  } finally {
    port.destroy();
  }
}

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Passes a WebSocket's handshake; after it the bytes are the browser's and the box's own. */
export async function forwardUpgrade(
  core: Using<"clock" | "getBox" | "live">,
  grant: PreviewGrant,
  webPort: number,
  { request, socket, head }: Upgrade,
): Promise<void> {
  if (request.headers.upgrade?.toLowerCase() !== "websocket")
    throw new AgentBoxError("input.invalid", "Only WebSockets can be upgraded to.");
  const port = new PortSocket(await openPort(core, grant));
  socket.on("close", () => port.destroy());
  const headers = { ...headersToBox(request, grant, webPort), connection: "Upgrade", upgrade: "websocket" };
  const outgoing = askBox(port, request, headers);
  outgoing.end();
  const upgraded = await upgradeOf(core, outgoing);
  const kept = ["sec-websocket-accept", "sec-websocket-protocol", "sec-websocket-extensions"].flatMap(
    (name) => {
      const value = upgraded.answer.headers[name];
      return typeof value === "string" ? [`${name}: ${value}`] : [];
    },
  );
  const lines = ["HTTP/1.1 101 Switching Protocols", "connection: Upgrade", "upgrade: websocket", ...kept];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  if (upgraded.head.length > 0) socket.write(upgraded.head);
  if (head.length > 0) port.write(head);
  try {
    await Promise.all([pipeline(port, socket), pipeline(socket, port)]);
  } catch {
    // The end of one is the end of the other.
  } finally {
    port.destroy();
    socket.destroy();
  }
}

/** SECURITY: Node's client on our own bytes: with no agent and no address there is nothing else it could connect to. */
function askBox(
  port: PortSocket,
  request: IncomingMessage,
  headers: ReturnType<typeof headersToBox>,
): ClientRequest {
  return httpRequest({
    method: request.method,
    path: request.url,
    headers,
    setHost: false,
    maxHeaderSize: maxHeaderBytes,
    createConnection: () => port,
  });
}

function answerOf(core: Using<"clock">, outgoing: ClientRequest): Promise<IncomingMessage> {
  return settle<IncomingMessage>(core, outgoing, (resolve, reject) => {
    outgoing.on("response", resolve);
    outgoing.on("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(brokenAnswer("a protocol that was not asked for"));
    });
  });
}

function upgradeOf(
  core: Using<"clock">,
  outgoing: ClientRequest,
): Promise<{ answer: IncomingMessage; head: Buffer }> {
  return settle<{ answer: IncomingMessage; head: Buffer }>(core, outgoing, (resolve, reject) => {
    outgoing.on("upgrade", (answer, _socket, head) => resolve({ answer, head }));
    outgoing.on("response", (answer) => {
      answer.destroy();
      reject(brokenAnswer("no WebSocket"));
    });
  });
}

function settle<T>(
  core: Using<"clock">,
  outgoing: ClientRequest,
  listen: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = core.ports.clock.after(answerMs, () => {
      reject(new AgentBoxError("request.timed_out", "The program in the box did not answer in time."));
      outgoing.destroy();
    });
    outgoing.on("close", cancel);
    // SECURITY: stays, so that later data of the box cannot end the daemon with an unhandled error.
    outgoing.on("error", (error) => reject(isAgentBoxError(error) ? error : brokenAnswer(messageOf(error))));
    listen((value) => {
      cancel();
      resolve(value);
    }, reject);
  });
}

/** A name or value that Node reads and does not write is the box's fault, not ours. */
function writeHead(
  response: ServerResponse,
  status: number,
  headers: ReturnType<typeof headersFromBox>,
): void {
  try {
    response.writeHead(status, headers);
  } catch (error) {
    throw brokenAnswer(messageOf(error));
  }
}

const brokenAnswer = (what: string): AgentBoxError =>
  new AgentBoxError("port.closed", `The program in the box did not answer with HTTP: ${printable(what)}.`);
