import type { WebSocket } from "ws";
import { type AgentBoxError, toAgentBoxError } from "../base/errors.ts";
import type { StreamAnswer } from "../contract/api/schemas.ts";
import { StreamInput } from "../contract/link/messages.ts";
import type { LinkStream } from "../ports/link.ts";

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

/** The first message of a client, as JSON; whatever else it sends waits until somebody listens. */
export function firstMessage(socket: WebSocket, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => finish(() => reject(new SyntaxError("no request came in time"))),
      timeoutMs,
    );
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off("message", onMessage);
      socket.off("close", onClose);
      // What follows must not be lost while the box is being asked.
      socket.pause();
      settle();
    };
    const onClose = (): void => finish(() => reject(new SyntaxError("the connection was closed")));
    const onMessage = (data: Buffer, isBinary: boolean): void =>
      finish(() => {
        try {
          if (isBinary) throw new SyntaxError("the request must be text");
          resolve(JSON.parse(data.toString()));
        } catch (error) {
          reject(error);
        }
      });
    socket.on("message", onMessage);
    socket.on("close", onClose);
  });
}

/** Joins a client and a stream into a box, with back pressure both ways. Resolves when the stream is over. */
export function relay(
  socket: WebSocket,
  stream: LinkStream,
  onMessage: (message: StreamAnswer) => void,
): Promise<void> {
  // A client that reads slowly stops the box's output at its source, so nothing piles up here.
  const resumeWhenSent = (): void => {
    if (socket.bufferedAmount < highWaterBytes) stream.resume();
  };
  stream.onData((chunk, channel) => {
    if (socket.readyState !== socket.OPEN) return;
    const message = Buffer.allocUnsafe(chunk.length + 1);
    message[0] = channel;
    message.set(chunk, 1);
    socket.send(message, resumeWhenSent);
    if (socket.bufferedAmount >= highWaterBytes) stream.pause();
  });
  stream.onMessage(onMessage);
  stream.onDrain(() => socket.resume());
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    if (!isBinary) return passControl(socket, stream, data);
    if (data.length > 1 && !stream.write(data.subarray(1))) socket.pause();
    // A channel byte alone is the end of the input.
    if (data.length === 1) stream.endInput();
  });
  return new Promise((resolve) => {
    stream.onClose((error) => {
      if (error) sendError(socket, error);
      resolve();
    });
    socket.on("close", () => stream.close());
    if (socket.readyState !== socket.OPEN) stream.close();
    socket.resume();
  });
}

function passControl(socket: WebSocket, stream: LinkStream, data: Buffer): void {
  let message: unknown;
  try {
    message = JSON.parse(data.toString());
  } catch {
    message = undefined;
  }
  const parsed = StreamInput.safeParse(message);
  if (parsed.success) stream.send(parsed.data);
  else {
    sendAnswer(socket, {
      type: "error",
      error: {
        code: "input.invalid",
        message: "A stream message was not understood.",
        hint: "See StreamInput in the API's contract.",
      },
    });
    socket.close();
  }
}
