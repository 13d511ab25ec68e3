/**
 * A server that reads requests rightly, whatever it has answered, and answers as no server should. It never closes a
 * connection because it was asked to: only what the gate does keeps one request from another.
 */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { Sighting } from "./servers.ts";

type Seen = Omit<Sighting, "server">;

interface Reading extends Seen {
  readonly isHead: boolean;
  left: number | "chunked";
  readonly body: Buffer[];
}

const poison = "HTTP/1.1 200 OK\r\nX-Seen: /poison\r\nContent-Length: 6\r\n\r\npoison";

export function hostileSocket(socket: Socket, saw: (seen: Seen) => void): void {
  let begun: Buffer = Buffer.alloc(0);
  let reading: Reading | undefined;
  const over = (): void => {
    if (reading === undefined) return;
    const { isHead: _, left, body, ...seen } = reading;
    const digest = createHash("sha1").update(Buffer.concat(body)).digest("hex");
    saw(left === 0 ? { ...seen, digest } : seen);
    if (left === 0 && !isEarly(seen.target)) answer(socket, reading, digest);
    reading = undefined;
  };
  socket.on("error", () => undefined);
  socket.once("close", over);
  socket.on("data", (chunk: Buffer) => {
    begun = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
    for (;;) {
      if (reading === undefined) {
        const end = begun.indexOf("\r\n\r\n");
        if (end === -1) return;
        reading = readHead(begun.toString("latin1", 0, end));
        begun = begun.subarray(end + 4);
        if (isEarly(reading.target)) answer(socket, reading, "early");
      }
      const rest = takeBody(reading, begun);
      begun = rest;
      if (reading.left !== 0) return;
      over();
    }
  });
}

const isEarly = (target: string): boolean => /^\/(early|limited|late-read)\//.test(target);

function readHead(head: string): Reading {
  const [line = "", ...lines] = head.split("\r\n");
  const headers = new Map(
    lines.map((one) => [one.split(":")[0]!.toLowerCase(), one.slice(one.indexOf(":") + 1).trim()]),
  );
  const [, method = "?", target = line] = /^([A-Z]+) (\S+) HTTP\/1\.1$/.exec(line) ?? [];
  return {
    method,
    target,
    host: headers.get("host") ?? "",
    authorization: headers.get("authorization") ?? "",
    isHead: method === "HEAD",
    left: headers.has("transfer-encoding") ? "chunked" : Number(headers.get("content-length") ?? 0),
    body: [],
  };
}

/** The rest when all of the body so far is taken. */
function takeBody(reading: Reading, bytes: Buffer): Buffer {
  let rest = bytes;
  while (reading.left === "chunked") {
    const end = rest.indexOf("\r\n");
    if (end === -1) return rest;
    const size = Number.parseInt(rest.toString("latin1", 0, end), 16);
    if (size === 0) {
      const after = rest.subarray(end);
      const trailersEnd = after.indexOf("\r\n\r\n");
      if (trailersEnd === -1) return rest;
      reading.left = 0;
      return after.subarray(trailersEnd + 4);
    }
    if (rest.length < end + 2 + size + 2) return rest;
    reading.body.push(rest.subarray(end + 2, end + 2 + size));
    rest = rest.subarray(end + 2 + size + 2);
  }
  const taken = rest.subarray(0, reading.left);
  reading.left -= taken.length;
  if (taken.length > 0) reading.body.push(taken);
  return rest.subarray(taken.length);
}

function answer(socket: Socket, { target, isHead }: Reading, digest: string): void {
  const text = digest + digest;
  const head = (status: string, ...lines: string[]): string =>
    [`HTTP/1.1 ${status}`, `X-Seen: ${target}`, "Connection: keep-alive", ...lines, "", ""].join("\r\n");
  const size = `X-Size: ${text.length}`;
  const length = `Content-Length: ${text.length}`;
  const body = isHead ? "" : text;
  const chunks = isHead ? "" : `${text.length.toString(16)}\r\n${text}\r\n0\r\n`;
  const usual = head("200 OK", size, length) + body;
  const kinds: Record<string, () => string> = {
    none: () => head("204 No Content"),
    "not-modified": () => head("304 Not Modified", length),
    chunked: () => `${head("200 OK", size, "Transfer-Encoding: chunked")}${chunks}${isHead ? "" : "\r\n"}`,
    trailers: () =>
      `${head("200 OK", size, "Transfer-Encoding: chunked", "Trailer: X-Late")}${chunks}${isHead ? "" : "X-Late: a\r\nContent-Length: 3\r\n\r\n"}`,
    hints: () => `HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n${usual}`,
    "many-hints": () =>
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${usual}`,
    extra: () => usual + poison,
    second: () => `${usual}HTTP/1.1 100 Continue\r\n\r\n${poison}`,
    short: () => head("200 OK", size, `Content-Length: ${text.length + 9}`) + body,
    long: () => head("200 OK", `Content-Length: ${text.length - 9}`) + body + poison,
    both: () => head("200 OK", length, "Transfer-Encoding: chunked") + chunks + poison,
    old: () => usual.replace("HTTP/1.1", "HTTP/1.0"),
    "line-feed": () => usual.replaceAll("\r\n", "\n"),
    "open-end": () => head("200 OK", size) + body,
    "body-to-none": () => head("204 No Content", length) + text + poison,
    "reset-inside": () => head("200 OK", size, length) + body.slice(9),
    "signed-length": () => head("200 OK", `Content-Length: +${text.length}`) + body,
    switch: () =>
      head("101 Switching Protocols", "Upgrade: websocket", "Sec-WebSocket-Accept: c3RvbGVu").replace(
        "keep-alive",
        "Upgrade",
      ),
  };
  const behaviour = target.split("/")[1] ?? "";
  const ends = ["short", "open-end", "reset", "reset-inside", "close"];
  if (behaviour !== "reset") socket.write((kinds[behaviour] ?? (() => usual))(), "latin1");
  if (ends.includes(behaviour)) {
    if (behaviour.startsWith("reset")) socket.destroy();
    else socket.end();
  }
}
