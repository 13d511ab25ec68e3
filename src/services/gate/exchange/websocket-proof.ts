/**
 * The opening handshake of a WebSocket (RFC 6455), with a key of the gate's own in place of the program's: only a
 * server that means to switch can answer to it.
 */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { AnswerHead } from "./request-head.ts";

const keyName = "sec-websocket-key";
const acceptName = "sec-websocket-accept";
/** Fixed by the RFC. */
const suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const acceptFor = (key: string): string =>
  createHash("sha1")
    .update(key + suffix)
    .digest("base64");

export class WebSocketProof {
  #ours = "";
  #asked: string | undefined;

  /** The headers of the program's request as they are sent. */
  ask(headers: readonly string[]): string[] {
    const sent = [...headers];
    this.#ours = randomBytes(16).toString("base64");
    for (let i = 0; i < sent.length; i += 2) {
      if (sent[i]!.toLowerCase() !== keyName) continue;
      this.#asked = sent[i + 1]!;
      sent[i + 1] = this.#ours;
    }
    return sent;
  }

  /**
   * SECURITY: a server that lets a request choose the status and the headers of its answer says 101 and goes on reading
   * HTTP, so the bytes that follow would be requests without a judgement. It cannot know the answer to a key made here.
   */
  isGivenBy({ headers }: IncomingMessage): boolean {
    return this.#asked !== undefined && headers[acceptName]?.trim() === acceptFor(this.#ours);
  }

  /** The head of the server's answer with what belongs to the program's own key. */
  answer(head: AnswerHead): AnswerHead {
    const accept = acceptFor(this.#asked ?? "");
    const headers = head.headers.map((text, i) =>
      i % 2 === 1 && head.headers[i - 1]!.toLowerCase() === acceptName ? accept : text,
    );
    return { ...head, headers };
  }
}
