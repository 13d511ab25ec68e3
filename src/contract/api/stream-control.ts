import { z } from "zod";
import { StreamInput } from "../link/messages.ts";

/** A client's messages on a stream: to the daemon, or through it to boxd. */
export const StreamControl = z.discriminatedUnion("type", [
  ...StreamInput.options,
  /** A browser cannot stop reading its connection: it asks the daemon to hold the box's output back, and to go on. */
  z.strictObject({ type: z.literal("pause") }),
  z.strictObject({ type: z.literal("resume") }),
]);
