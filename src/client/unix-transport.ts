import { request } from "node:http";
import { AgentBoxError, messageOf } from "../base/errors.ts";
import { omitUndefined } from "../base/omit-undefined.ts";
import { versionHeader } from "../contract/api/headers.ts";
import { type Answer, type Call, type Stream, type Transport, errorFromAnswer } from "./transport.ts";

const unreachable = (socketPath: string, error: unknown) =>
  new AgentBoxError(
    "daemon.unreachable",
    `The daemon at ${socketPath} does not answer: ${messageOf(error)}.`,
    {
      hint: "Run: agentbox daemon start",
      cause: error,
    },
  );

/** Speaks to the daemon over its owner-only socket; only its owner can open it, which is the authentication. */
export function unixTransport(socketPath: string): Transport {
  return {
    call: (call) => callOverSocket(socketPath, call),
    stream: (path) => openSocketStream(socketPath, path),
  };
}

function callOverSocket(socketPath: string, call: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const outgoing = request({
      socketPath,
      method: call.method,
      path: call.path,
      agent: false,
      headers: {
        host: "agentbox",
        ...(body === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
        ...call.headers,
      },
      ...omitUndefined({ signal: call.signal }),
    });
    if (call.timeoutMs !== undefined) {
      outgoing.setTimeout(call.timeoutMs, () =>
        outgoing.destroy(
          new AgentBoxError(
            "request.timed_out",
            `The daemon took longer than ${(call.timeoutMs ?? 0) / 1_000} s to answer.`,
            {
              hint: "Look at: agentbox daemon logs",
            },
          ),
        ),
      );
    }
    outgoing.on("error", (error) =>
      reject(error instanceof AgentBoxError ? error : unreachable(socketPath, error)),
    );
    outgoing.on("response", (incoming) => {
      resolve({
        status: incoming.statusCode ?? 0,
        version: incoming.headers[versionHeader]?.toString(),
        chunks: () => incoming,
        async text() {
          const parts: Buffer[] = [];
          for await (const part of incoming) parts.push(part as Buffer);
          return Buffer.concat(parts).toString();
        },
      });
    });
    outgoing.end(body);
  });
}

/** Loads what streams need while something else is waited for; if that fails, the stream says so. */
export const preloadStreams = (): void => void import("ws").catch(() => undefined);

async function openSocketStream(socketPath: string, path: string): Promise<Stream> {
  // Loaded here, because most commands never open a stream and every module costs start-up time.
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(`ws+unix://${socketPath}:${path}`, {
    perMessageDeflate: false,
    maxPayload: 4 << 20,
    skipUTF8Validation: true,
    headers: { host: "agentbox" },
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", (error) => reject(unreachable(socketPath, error)));
    socket.once("unexpected-response", (_request, response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => reject(errorFromAnswer(Buffer.concat(parts).toString())));
    });
  });
  return wrap(socket);
}

const highWaterBytes = 1 << 20;

function wrap(socket: import("ws").WebSocket): Stream {
  const prefix = new Uint8Array([1]);
  let drained: (() => void) | undefined;
  let failure: Error | undefined;
  socket.on("error", (error) => {
    failure = error;
  });
  return {
    sendText: (text) => socket.send(text),
    sendData(chunk) {
      socket.send(Buffer.concat([prefix, chunk]), () => {
        if (socket.bufferedAmount < highWaterBytes) drained?.();
      });
      return socket.bufferedAmount < highWaterBytes;
    },
    endInput: () => socket.send(prefix),
    onText(listener) {
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        if (!isBinary) listener(data.toString());
      });
    },
    onData(listener) {
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        if (isBinary && data.length > 0) listener(data.subarray(1), data[0]!);
      });
    },
    onDrain(listener) {
      drained = listener;
    },
    onClose(listener) {
      socket.on("close", () => listener(failure));
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.close(),
  };
}
