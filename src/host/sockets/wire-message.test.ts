import { describe, expect, it } from "vitest";
import { WireMessage } from "./wire-message.ts";

const read = (message: WireMessage, text: string, pieces: number): WireMessage => {
  for (let at = 0; at < text.length; at += pieces)
    message.read(Buffer.from(text.slice(at, at + pieces), "latin1"));
  return message;
};

/** In every way in which the bytes may arrive. */
const inPieces = (text: string, begin: () => WireMessage): WireMessage[] =>
  [1, 2, 3, 5, 7, text.length].map((pieces) => read(begin(), text, pieces));

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const post = (headers: string, body = ""): string => `POST /x HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;
const ok = (headers: string, body = ""): string => `HTTP/1.1 200 OK\r\n${headers}\r\n${body}`;
const chunked = "Transfer-Encoding: chunked\r\n";

describe("the end of a request", () => {
  it.each([
    ["no body", get],
    ["no reason to have one", post("")],
    ["a length of 0", post("Content-Length: 0\r\n")],
    ["a length", post("Content-Length: 5\r\n", "hello")],
    ["chunks", post(chunked, "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n")],
    ["trailers", post(chunked, "5\r\nhello\r\n0\r\nX-A: b\r\nX-C: d\r\n\r\n")],
    ["a body that looks like a request", post(`Content-Length: ${get.length}\r\n`, get)],
  ])("is found with %s, and nowhere before or after", (_, text) => {
    for (const message of inPieces(text, () => new WireMessage())) expect(message.isWhole).toBe(true);
    for (const message of inPieces(text.slice(0, -1), () => new WireMessage()))
      expect(message.isWhole).toBe(false);
    for (const message of inPieces(`${text}G`, () => new WireMessage())) expect(message.isWhole).toBe(false);
  });

  it.each([
    ["two lengths", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")],
    ["length and chunks", post(`Content-Length: 5\r\n${chunked}`, "0\r\n\r\n")],
    ["another coding", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")],
    ["a signed length", post("Content-Length: +5\r\n", "hello")],
    ["a folded header", post("X-A: b\r\n Content-Length: 0\r\n")],
    ["a space before the colon", post("Content-Length : 0\r\n")],
    ["a bare line feed", "GET / HTTP/1.1\nHost: a\r\n\r\n"],
    ["a bare line feed in a header", post("X-A: b\nContent-Length: 5\r\n")],
    ["an old version", "GET / HTTP/1.0\r\nHost: a\r\n\r\n"],
    ["a chunk with an extension", post(chunked, "5;a=b\r\nhello\r\n0\r\n\r\n")],
    ["a chunk that is longer than it says", post(chunked, "5\r\nhello!\r\n0\r\n\r\n")],
    ["a chunk that ends with a line feed", post(chunked, "5\r\nhello\n0\r\n\r\n")],
    ["an invalid trailer", post(chunked, "0\r\nfoo\r\n\r\n")],
  ])("is not found with %s", (_, text) => {
    for (const message of inPieces(text, () => new WireMessage())) expect(message.isWhole).toBe(false);
  });

  it("says what closes the connection", () => {
    const isLast = (headers: string): boolean => read(new WireMessage(), post(headers), 99).isLast;
    expect(isLast("")).toBe(false);
    expect(isLast("Connection: keep-alive\r\n")).toBe(false);
    expect(isLast("Connection: close\r\n")).toBe(true);
    expect(isLast("Connection: x, Close\r\n")).toBe(true);
    expect(isLast("Connection: Upgrade\r\nUpgrade: websocket\r\n")).toBe(true);
  });
});

describe("the end of an answer", () => {
  const to = (method: string) => () => new WireMessage(() => method);

  it.each([
    ["GET", "a length", ok("Content-Length: 5\r\n", "hello")],
    ["GET", "chunks", ok(chunked, "a\r\n0123456789\r\n0\r\n\r\n")],
    ["HEAD", "a length that is not its own", ok("Content-Length: 5\r\n")],
    ["HEAD", "no length", ok("")],
    ["GET", "204", "HTTP/1.1 204 No Content\r\n\r\n"],
    ["GET", "304 and a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"],
    [
      "GET",
      "100 and 103 before",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n${ok("Content-Length: 1\r\n", "x")}`,
    ],
    ["GET", "no words behind its status", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n"],
  ])("to %s is found with %s, and nowhere before or after", (method, _, text) => {
    for (const message of inPieces(text, to(method))) expect(message.isWhole).toBe(true);
    for (const message of inPieces(text.slice(0, -1), to(method))) expect(message.isWhole).toBe(false);
    for (const message of inPieces(`${text}H`, to(method))) expect(message.isWhole).toBe(false);
  });

  it.each([
    ["the end of its connection", ok("", "hello")],
    ["another protocol", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"],
    ["a hint and no answer", "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n"],
    ["an old version", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"],
    ["two lengths", ok("Content-Length: 0\r\nContent-Length: 0\r\n")],
    ["a second answer", `${ok("Content-Length: 0\r\n")}${ok("Content-Length: 0\r\n")}`],
  ])("is not found with %s", (_, text) => {
    for (const message of inPieces(text, to("GET"))) expect(message.isWhole).toBe(false);
  });

  it("is not found before the request is known", () => {
    for (const message of inPieces(ok("Content-Length: 0\r\n"), () => new WireMessage(() => undefined)))
      expect(message.isWhole).toBe(false);
  });
});
