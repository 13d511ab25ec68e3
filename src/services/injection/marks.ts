/** Every placeholder of a box, as it is and inside base64, with the secret that each stands for. */
import { PatternSet } from "./pattern-set.ts";
import { base64Inside } from "./value-forms.ts";

export class Marks {
  readonly patterns: PatternSet;
  readonly #secrets = new Map<string, string>();

  constructor(placeholders: Iterable<{ readonly mark: string; readonly secret: string }>) {
    for (const { mark, secret } of placeholders)
      for (const form of [mark, ...base64Inside(mark)]) this.#secrets.set(form, secret);
    this.patterns = new PatternSet([...this.#secrets.keys()].map((form) => Buffer.from(form, "latin1")));
  }

  /** The secret whose placeholder is in there. */
  secretIn(bytes: Buffer): string | undefined {
    let secret: string | undefined;
    this.patterns.search(bytes, (start, end) => {
      secret = this.#secrets.get(bytes.toString("latin1", start, end));
      return true;
    });
    return secret;
  }

  /** The same for a text whose characters are bytes. */
  secretInText(text: string): string | undefined {
    return this.secretIn(Buffer.from(text, "latin1"));
  }
}
