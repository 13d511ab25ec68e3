import type { IncomingMessage } from "node:http";
import { AgentBoxError } from "../../base/errors.ts";

const maxFormBytes = 64 * 1024;

/** The fields of a form, as a provider sends them. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded")
    throw new AgentBoxError(
      "input.invalid",
      "The request must have the content type application/x-www-form-urlencoded.",
    );
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxFormBytes)
      throw new AgentBoxError("input.too_large", `A form may have at most ${maxFormBytes} bytes.`);
    parts.push(part);
  }
  return new URLSearchParams(Buffer.concat(parts).toString("utf8"));
}
