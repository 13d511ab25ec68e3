/** How a request's text is built, counted before it is parsed. */
import { AgentBoxError } from "../../base/errors.ts";
import type { ModelLimits } from "./limits.ts";

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, openObject, closeList, closeObject] = [0x5b, 0x7b, 0x5d, 0x7d];

/**
 * Returns the number of values. SECURITY: parsing, judging and writing out millions of tiny values, or lists nested a
 * million deep, would hold up the daemon for all other boxes; counting them does not.
 */
export function checkShape(
  text: Uint8Array,
  { requestValues, requestDepth }: Pick<ModelLimits, "requestValues" | "requestDepth">,
): number {
  let values = 0;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (isInText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInText = false;
    } else if (byte === quote) isInText = true;
    else if (byte === comma || byte === colon) values += 1;
    else if (byte === openList || byte === openObject) {
      values += 1;
      depth += 1;
      if (depth > requestDepth) throw tooMany(`nested more than ${requestDepth} deep`);
    } else if (byte === closeList || byte === closeObject) depth -= 1;
    if (values > requestValues) throw tooMany(`made of more than ${requestValues} values`);
  }
  return values;
}

const tooMany = (what: string): AgentBoxError =>
  new AgentBoxError("input.too_large", `The request is ${what}.`, { hint: "Send less at once." });
