import type { Change } from "../../../contract/review/change.ts";

const maxFileChars = 1 << 20;
const maxTotalChars = 64 << 20;

export type ContentReader = (change: Change) => Promise<string | undefined>;

/** Reads contents as long as there is room, so that no change makes a review slow or large. */
export class ContentBudget {
  #left = maxTotalChars;

  /** Whether the new content of a change fits; what does not must be named in the list. */
  claim(change: Change): boolean {
    if (change.bytes > maxFileChars || change.bytes > this.#left) return false;
    this.#left -= change.bytes;
    return true;
  }

  /** Undefined when it could not be read, or is longer than was said. */
  async read(reader: ContentReader, change: Change): Promise<string | undefined> {
    const text = await reader(change).catch(() => undefined);
    return text !== undefined && text.length <= maxFileChars ? text : undefined;
  }

  /** The old content has no size before it is read. */
  async readOld(reader: ContentReader, change: Change): Promise<string | undefined> {
    const text = this.#left > 0 ? await this.read(reader, change) : undefined;
    this.#left -= text?.length ?? 0;
    return text;
  }
}
