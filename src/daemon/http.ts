/** JSON in and out, with limits. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { z } from "zod";
import { AgentBoxError } from "../base/errors.ts";
import { refusedInput } from "./refused-input.ts";

const maxBodyBytes = 2 << 20;
/** SECURITY: of those who have shown nothing yet; a thousand connections of theirs must not fill the daemon's memory. */
const maxStrangerBytes = 16 << 10;

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

export function parseWith<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refusedInput(parsed.error, where);
}

/** SECURITY: with `isOfStranger`, a form of another page cannot send it, and it must be small. */
export async function readJson(
  request: IncomingMessage,
  { isOfStranger = false }: { isOfStranger?: boolean } = {},
): Promise<unknown> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (isOfStranger && type !== "application/json")
    throw new AgentBoxError("input.invalid", "The request must have the content type application/json.");
  const maxBytes = isOfStranger ? maxStrangerBytes : maxBodyBytes;
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) {
      throw new AgentBoxError("input.too_large", `A request body may have at most ${maxBytes} bytes.`);
    }
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString() || "{}");
  } catch {
    throw new AgentBoxError("input.invalid", "The request body is not JSON.");
  }
}
