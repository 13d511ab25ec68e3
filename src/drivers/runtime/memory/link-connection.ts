/** One connection of a simulated box to its host: frames in, frames out. */
import { connect, type Socket } from "node:net";
import {
  decodeJson,
  encodeFrame,
  encodeJson,
  type FrameKind,
  FrameReader,
  frameKind,
  maxDataBytes,
} from "../../../contract/link/codec.ts";
import type { Hello } from "../../../contract/link/messages.ts";

export interface LinkConnection {
  send(message: unknown): void;
  data(chunk: Uint8Array, kind?: FrameKind): void;
  end(): void;
  destroy(): void;
  pause(): void;
  resume(): void;
}

export interface LinkHandler {
  json?(message: unknown): void;
  data?(chunk: Uint8Array): void;
  eof?(): void;
  closed?(): void;
}

export function dial(path: string, hello: Hello, handler: LinkHandler): LinkConnection {
  const socket: Socket = connect(path);
  const reader = new FrameReader();
  socket.unref();
  // At once, because data that is written before the connection stands must come after it.
  socket.write(encodeJson(hello));
  socket.on("data", (chunk) => {
    try {
      for (const frame of reader.push(chunk)) {
        if (frame.kind === frameKind.json) handler.json?.(decodeJson(frame.payload));
        else if (frame.kind === frameKind.data) handler.data?.(frame.payload);
        else if (frame.kind === frameKind.eof) handler.eof?.();
      }
    } catch {
      socket.destroy();
    }
  });
  socket.on("error", () => undefined);
  socket.on("close", () => handler.closed?.());
  return {
    send: (message) => void socket.write(encodeJson(message)),
    data(chunk, kind = frameKind.data) {
      for (let at = 0; at < chunk.length; at += maxDataBytes) {
        socket.write(encodeFrame(kind, chunk.subarray(at, at + maxDataBytes)));
      }
    },
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
  };
}
