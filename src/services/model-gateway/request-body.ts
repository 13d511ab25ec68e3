/** Reads a request's body whole, within the limits, and as one JSON object. */
import type { IncomingMessage } from "node:http";
import { AgentBoxError } from "../../base/errors.ts";
import { checkShape } from "./body-shape.ts";
import { type JsonObject, isObject, parseJson } from "./json.ts";
import type { ModelLimits } from "./limits.ts";

export interface HeldBody {
  /** Counts bytes in; throws when there are too many of them at once. */
  readonly hold: (bytes: number) => void;
  readonly maxBytes: number;
}

/** Rejects at once when it is too large; the rest is not read. */
export function readBody(request: IncomingMessage, { hold, maxBytes }: HeldBody): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      try {
        hold(chunk.length);
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        chunks.push(chunk);
      } catch (error) {
        request.off("data", onData);
        reject(error);
      }
    };
    request.on("data", onData);
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("close", () => reject(new AgentBoxError("model.bad_request", "The request broke off.")));
    request.resume();
  });
}

export interface ParsedBody {
  readonly document: JsonObject;
  /** How many values it is made of. */
  readonly values: number;
}

export function parseBody(body: Buffer, encoding: string | undefined, limits: ModelLimits): ParsedBody {
  if (encoding !== undefined && encoding !== "identity") {
    throw new AgentBoxError("model.bad_request", "The request is packed, so it cannot be read.", {
      hint: "Send it without content-encoding.",
    });
  }
  const values = checkShape(body, limits);
  const document = parseJson(body.toString());
  if (!isObject(document)) throw new AgentBoxError("model.bad_request", "The request is not a JSON object.");
  return { document, values };
}

const tooLarge = (maxBytes: number): AgentBoxError =>
  new AgentBoxError("input.too_large", `The request is larger than ${maxBytes} bytes.`, {
    hint: "Send less at once.",
  });
