/** Finds placeholders in bytes that come in pieces, wherever they are cut. It keeps no more than an unfinished one. */
import { AgentBoxError } from "../../base/errors.ts";
import type { Marks } from "./marks.ts";

export const found = (secret: string): AgentBoxError =>
  new AgentBoxError(
    "secret.misplaced",
    `The placeholder of the secret ${secret} is in what the request carries, where it is not replaced.`,
    {
      hint: "Send it as a token in an Authorization header, to a host that the secret is bound to in [secrets].",
      facts: { secret },
    },
  );

export class PlaceholderFinder {
  readonly #marks: Marks;
  #tail: Buffer | undefined;

  constructor(marks: Marks) {
    this.#marks = marks;
  }

  /** The secret whose placeholder is in what has come until now. */
  next(chunk: Buffer): string | undefined {
    const bytes = this.#tail === undefined ? chunk : Buffer.concat([this.#tail, chunk]);
    const secret = this.#marks.secretIn(bytes);
    const open = this.#marks.patterns.openEnd(bytes);
    this.#tail = open === bytes.length ? undefined : Buffer.from(bytes.subarray(open));
    return secret;
  }
}
