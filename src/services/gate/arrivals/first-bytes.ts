/**
 * Tells from its first bytes which protocol a program speaks. Bytes that could still become HTTP or TLS stay undecided,
 * however long it takes: a request must not get past its judgement by arriving in pieces.
 */
import type { Duplex } from "node:stream";
import { looksLikeTls, readClientHello } from "./client-hello.ts";
import type { GateLimits } from "../limits.ts";

export type Speech =
  | { readonly kind: "undecided" }
  | { readonly kind: "tls"; readonly serverName: string | undefined }
  | { readonly kind: "http" }
  | { readonly kind: "other" }
  | { readonly kind: "malformed" };

const undecided: Speech = { kind: "undecided" };
const other: Speech = { kind: "other" };

/** A method that is known, or any with a path or URL after it: the line may go on with bytes that hide the rest. */
const httpMethod =
  /^(?:(?:GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS|TRACE|TRACK|CONNECT|PRI) |[A-Z][A-Z-]{0,31}[ \t]+(?:[/*]|[A-Za-z]+:\/\/))/;
const httpVersion = /HTTP\/\d/i;
/** Bytes that no request line has: from here on it is another protocol. */
const notText = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

export function classify(bytes: Buffer): Speech {
  if (bytes.length === 0) return undecided;
  if (looksLikeTls(bytes)) {
    const hello = readClientHello(bytes);
    if (hello.kind === "hello") return { kind: "tls", serverName: hello.serverName };
    return hello.kind === "malformed" ? { kind: "malformed" } : undecided;
  }
  // Servers ignore empty lines before a request line, some of them blank ones too, so both are ignored here.
  const text = bytes.toString("latin1").replace(/^[\r\n\t ]+/, "");
  const end = text.indexOf("\n");
  const line = end === -1 ? text : text.slice(0, end);
  if (httpMethod.test(line) || httpVersion.test(line)) return { kind: "http" };
  if (notText.test(line)) return other;
  return end === -1 ? undecided : other;
}

export type Heard =
  | { readonly kind: "speech"; readonly speech: Speech; readonly bytes: Buffer }
  /** Nothing at all was said in the time. */
  | { readonly kind: "silent" }
  | { readonly kind: "limit"; readonly bytes: Buffer }
  | { readonly kind: "closed"; readonly bytes: Buffer };

export interface ListenOptions {
  readonly limits: Pick<GateLimits, "firstBytes" | "firstBytesMs">;
  /** After how long nothing at all is an answer; undefined: only the limit ends the wait. */
  readonly silenceMs?: number | undefined;
  /** With the server's own words ahead, the first word of the program may take as long as it likes. */
  readonly isPatient?: boolean;
}

/** Waits until it is clear which protocol the program speaks, and puts the bytes back for the next reader. */
export function hearFirstBytes(socket: Duplex, options: ListenOptions): Promise<Heard> {
  return new Promise((resolve) => {
    let heard: Buffer = Buffer.alloc(0);
    let timer: NodeJS.Timeout | undefined;
    const arm = (ms: number, then: () => Heard): void => {
      clearTimeout(timer);
      timer = setTimeout(() => finish(then()), ms).unref();
    };
    const limit = (): Heard => ({ kind: "limit", bytes: heard });
    const finish = (result: Heard): void => {
      clearTimeout(timer);
      socket.pause();
      socket.off("data", onData).off("end", onClosed).off("close", onClosed);
      if (heard.length > 0 && result.kind !== "closed") socket.unshift(heard);
      resolve(result);
    };
    const onData = (chunk: Buffer): void => {
      if (heard.length === 0) arm(options.limits.firstBytesMs, limit);
      heard = heard.length === 0 ? chunk : Buffer.concat([heard, chunk]);
      const speech = classify(heard);
      if (speech.kind !== "undecided") finish({ kind: "speech", speech, bytes: heard });
      else if (heard.length >= options.limits.firstBytes) {
        finish({ kind: "speech", speech: { kind: "malformed" }, bytes: heard });
      }
    };
    const onClosed = (): void => finish({ kind: "closed", bytes: heard });
    if (options.silenceMs !== undefined) arm(options.silenceMs, () => ({ kind: "silent" }));
    else if (options.isPatient !== true) arm(options.limits.firstBytesMs, limit);
    socket.on("data", onData).on("end", onClosed).on("close", onClosed);
    if (socket.destroyed || socket.readableEnded) onClosed();
    else socket.resume();
  });
}
