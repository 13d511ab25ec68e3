/** How the page reaches the daemon: the same contract as over the unix socket, with the session's two halves. */
import { AgentBoxError, messageOf } from "../../../src/base/errors.ts";
import type { Answer, Call, Stream, Transport } from "../../../src/client/transport.ts";
import { keyHeaders, keyProtocols } from "./session.ts";

const unreachable = (error: unknown) =>
  new AgentBoxError("daemon.unreachable", `The daemon does not answer: ${messageOf(error)}.`, {
    hint: "It may be starting again; this page keeps trying.",
    cause: error,
  });

/** Not `for await` on the stream itself, which not every browser has. */
async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function call({ method, path, body, headers, timeoutMs, signal }: Call): Promise<Answer> {
  const limits = [signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)];
  const given = limits.filter((one) => one !== undefined);
  // Every change says that it is JSON: a form of another page cannot.
  const isChange = method !== "GET";
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: {
        ...keyHeaders(),
        ...(isChange ? { "content-type": "application/json" } : {}),
        ...headers,
      },
      body: isChange && body !== undefined ? JSON.stringify(body) : null,
      signal: given.length === 0 ? null : AbortSignal.any(given),
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") {
      throw new AgentBoxError(
        "request.timed_out",
        `The daemon took longer than ${(timeoutMs ?? 0) / 1_000} s to answer.`,
      );
    }
    throw unreachable(error);
  }
  return {
    status: answer.status,
    text: () => answer.text(),
    chunks: () => piecesOf(answer.body),
  };
}

function stream(path: string): Promise<Stream> {
  const url = new URL(path, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url, keyProtocols());
  socket.binaryType = "arraybuffer";
  return new Promise((resolve, reject) => {
    socket.addEventListener("open", () => resolve(wrap(socket)), { once: true });
    socket.addEventListener("error", () => reject(unreachable(new Error("the connection was refused"))), {
      once: true,
    });
  });
}

function wrap(socket: WebSocket): Stream {
  const withChannel = (chunk: Uint8Array) => {
    const message = new Uint8Array(chunk.length + 1);
    message[0] = 1;
    message.set(chunk, 1);
    return message;
  };
  const control = (type: "pause" | "resume") => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type }));
  };
  return {
    sendText: (text) => socket.send(text),
    sendData(chunk) {
      socket.send(withChannel(chunk));
      return true;
    },
    endInput: () => socket.send(new Uint8Array([1])),
    onText(listener) {
      socket.addEventListener("message", ({ data }) => {
        if (typeof data === "string") listener(data);
      });
    },
    onData(listener) {
      socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
        if (!(data instanceof ArrayBuffer) || data.byteLength === 0) return;
        const bytes = new Uint8Array(data);
        listener(bytes.subarray(1), bytes[0]!);
      });
    },
    // A browser's socket does not report when it has sent; typed text is small.
    onDrain: () => undefined,
    onClose(listener) {
      socket.addEventListener("close", () => listener(), { once: true });
    },
    // A browser always reads on; the daemon is asked to hold the box's output back instead.
    pause: () => control("pause"),
    resume: () => control("resume"),
    close: () => socket.close(),
  };
}

export const browserTransport: Transport = { call, stream };
