import { z } from "zod";
import { Box } from "../box.ts";

export type Method = "GET" | "POST" | "DELETE";

export interface Route {
  readonly method: Method;
  /** `{box}`, `{session}`, `{approval}`, `{agent}`, `{comment}` and `{connection}` are the only parameters. */
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly response: z.ZodType;
  /** What the answer is when it is not JSON. */
  readonly media?: "text" | "stream" | "websocket";
}

/** Bodies and answers that many routes share. */
export const none = z.object({});
export const empty = z.strictObject({});
export const boxAnswer = z.object({ box: Box });
