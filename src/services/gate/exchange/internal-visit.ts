/**
 * Gives a judged request to a host that is part of the gate itself, and counts what passes: the host answers as if it
 * were alone with the program, and the record is as exact as that of any server.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { GateBox, InternalHost } from "../../../ports/gate.ts";

export interface Visitor {
  readonly box: GateBox;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The program's own end, where it asks for another protocol. */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer } | undefined;
}

export interface VisitEvents {
  readonly onRequestBytes: () => void;
  /** An upgraded connection is over; that of a request is seen at its answer. */
  readonly onUpgradeEnd: () => void;
}

/** The bytes that have passed so far. */
export interface VisitCount {
  readonly status: number | undefined;
  readonly bytesOut: number;
  readonly bytesIn: number;
}

export const visitHost = (host: InternalHost, visitor: Visitor, events: VisitEvents): (() => VisitCount) =>
  visitor.upgrade === undefined
    ? visitWithRequest(host, visitor, events)
    : visitWithUpgrade(host, visitor, visitor.upgrade, events);

function visitWithRequest(
  host: InternalHost,
  { box, request, response }: Visitor,
  { onRequestBytes }: VisitEvents,
): () => VisitCount {
  let bytesOut = 0;
  let bytesIn = 0;
  // Paused, so that nothing is lost when the host begins to read late.
  request.pause();
  request.on("data", (chunk: Buffer) => {
    bytesOut += chunk.length;
    onRequestBytes();
  });
  watchWrites(response, (chunk) => {
    bytesIn += Buffer.byteLength(chunk);
  });
  if (request.headers.expect !== undefined) response.writeContinue();
  host.serve(box, request, response);
  return () => ({ status: response.headersSent ? response.statusCode : undefined, bytesOut, bytesIn });
}

function visitWithUpgrade(
  host: InternalHost,
  { box, request, response }: Visitor,
  { socket, head }: NonNullable<Visitor["upgrade"]>,
  { onUpgradeEnd }: VisitEvents,
): () => VisitCount {
  let status: number | undefined;
  let bytesIn = 0;
  // From here on the socket speaks for itself, not for an answer object.
  response.removeAllListeners("close");
  response.detachSocket(socket as Socket);
  const readBefore = bytesRead(socket) - head.length;
  watchWrites(socket, (chunk) => {
    if (status === undefined) status = statusOf(chunk);
    else bytesIn += Buffer.byteLength(chunk);
  });
  socket.once("close", onUpgradeEnd);
  host.upgrade(box, request, socket, head);
  return () => ({ status, bytesOut: bytesRead(socket) - readBefore, bytesIn });
}

const bytesRead = (socket: Duplex): number => (socket as Partial<Socket>).bytesRead ?? 0;

type Chunk = string | Uint8Array;

function statusOf(chunk: Chunk): number | undefined {
  const start =
    typeof chunk === "string" ? chunk.slice(0, 12) : Buffer.from(chunk.subarray(0, 12)).toString();
  const found = /^HTTP\/1\.1 (\d{3})$/.exec(start)?.[1];
  return found === undefined ? undefined : Number(found);
}

interface Sink {
  write: (...args: unknown[]) => boolean;
  end: (...args: unknown[]) => unknown;
}

/** Looks at what is written to a stream, without a second stream before it. */
function watchWrites(sink: ServerResponse | Duplex, onChunk: (chunk: Chunk) => void): void {
  const watched = sink as unknown as Sink;
  const { write, end } = watched;
  const watch = (chunk: unknown): void => {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) onChunk(chunk);
  };
  watched.write = (...args) => {
    watch(args[0]);
    return write.apply(sink, args);
  };
  watched.end = (...args) => {
    watch(args[0]);
    return end.apply(sink, args);
  };
}
