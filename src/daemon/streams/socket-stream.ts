import type { WebSocket } from "ws";
import { deferred } from "../../base/deferred.ts";
import { type AgentBoxError, toAgentBoxError } from "../../base/errors.ts";
import type { StreamAnswer } from "../../contract/api/schemas.ts";
import { StreamControl } from "../../contract/api/stream-control.ts";
import type { StreamOutput } from "../../contract/link/messages.ts";
import type { LinkStream } from "../../ports/link.ts";

const highWaterBytes = 1 << 20;

export function sendAnswer(socket: WebSocket, answer: StreamAnswer): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(answer));
}

export function sendError(socket: WebSocket, error: unknown): AgentBoxError {
  const known = toAgentBoxError(error);
  sendAnswer(socket, { type: "error", error: known.toBody() });
  socket.close();
  return known;
}

interface Message {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/**
 * A client's messages, in order. A client does not wait between its request and its first input, and one chunk of the
 * connection may hold both: messages without a listener yet are kept, not lost.
 */
export class Inbox {
  readonly #waiting: Message[] = [];
  #listener: ((message: Message) => void) | undefined;

  constructor(socket: WebSocket) {
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (this.#listener) this.#listener({ data, isBinary });
      else this.#waiting.push({ data, isBinary });
      // The rest stays in the connection until the box can take it.
      if (!this.#listener) socket.pause();
    });
  }

  listen(listener: (message: Message) => void): void {
    this.#listener = listener;
    for (const message of this.#waiting.splice(0)) listener(message);
  }

  /** The first message, which says what is wanted. */
  first(socket: WebSocket, timeoutMs: number): Promise<unknown> {
    const { promise, resolve, reject } = deferred<unknown>();
    const timer = setTimeout(() => reject(new SyntaxError("no request came in time")), timeoutMs);
    const onClose = (): void => reject(new SyntaxError("the connection was closed"));
    socket.on("close", onClose);
    this.listen(({ data, isBinary }) => {
      this.#listener = undefined;
      socket.pause();
      try {
        if (isBinary) throw new SyntaxError("the request must be text");
        resolve(JSON.parse(data.toString()));
      } catch (error) {
        reject(error);
      }
    });
    return promise.finally(() => {
      clearTimeout(timer);
      socket.off("close", onClose);
    });
  }
}

/** Joins a client and a stream into a box, with back pressure both ways. Resolves when the stream is over. */
export async function relay(
  socket: WebSocket,
  inbox: Inbox,
  stream: LinkStream,
  answerTo: (message: StreamOutput) => StreamAnswer,
  /** A better reason than that of the connection, for a stream that broke off. */
  explain: (error: Error) => Promise<Error> = async (error) => error,
): Promise<void> {
  // A client that reads slowly stops the box's output at its source, so nothing piles up here.
  let isHeld = false;
  const resumeWhenSent = (): void => {
    if (!isHeld && socket.bufferedAmount < highWaterBytes) stream.resume();
  };
  const hold = (held: boolean): void => {
    isHeld = held;
    if (held) stream.pause();
    else resumeWhenSent();
  };
  stream.onData((chunk, channel) => {
    if (socket.readyState !== socket.OPEN) return;
    const message = Buffer.allocUnsafe(chunk.length + 1);
    message[0] = channel;
    message.set(chunk, 1);
    socket.send(message, resumeWhenSent);
    if (socket.bufferedAmount >= highWaterBytes) stream.pause();
  });
  stream.onMessage((message) => {
    const answer = answerTo(message);
    if (socket.readyState !== socket.OPEN) return;
    socket.send(JSON.stringify(answer), resumeWhenSent);
    // Messages can come without end, too.
    if (socket.bufferedAmount >= highWaterBytes) stream.pause();
  });
  stream.onDrain(() => socket.resume());
  socket.resume();
  inbox.listen(({ data, isBinary }) => {
    if (!isBinary) return passControl(socket, stream, data, hold);
    if (data.length > 1 && !stream.write(data.subarray(1))) socket.pause();
    // A channel byte alone is the end of the input.
    if (data.length === 1) stream.endInput();
  });
  const failure = await new Promise<Error | undefined>((resolve) => {
    stream.onClose(resolve);
    socket.on("close", () => stream.close());
    if (socket.readyState !== socket.OPEN) stream.close();
  });
  if (failure) sendError(socket, await explain(failure).catch(() => failure));
}

function passControl(
  socket: WebSocket,
  stream: LinkStream,
  data: Buffer,
  hold: (held: boolean) => void,
): void {
  let message: unknown;
  try {
    message = JSON.parse(data.toString());
  } catch {
    message = undefined;
  }
  const parsed = StreamControl.safeParse(message);
  if (parsed.success) {
    if (parsed.data.type === "pause" || parsed.data.type === "resume") hold(parsed.data.type === "pause");
    else stream.send(parsed.data);
  } else {
    sendAnswer(socket, {
      type: "error",
      error: {
        code: "input.invalid",
        message: "A stream message was not understood.",
        hint: "See StreamControl in the API's contract.",
      },
    });
    socket.close();
  }
}
