// Reads a request's body, compressed or not.
import type { IncomingMessage } from "node:http";
import zlib from "node:zlib";

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return decode(Buffer.concat(chunks), request.headers["content-encoding"] ?? "identity").toString("utf8");
}

function decode(body: Buffer, encoding: string): Buffer {
  switch (encoding) {
    case "gzip":
      return zlib.gunzipSync(body);
    case "deflate":
      return zlib.inflateSync(body);
    case "br":
      return zlib.brotliDecompressSync(body);
    default:
      return body;
  }
}
