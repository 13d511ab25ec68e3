/** What is kept about reviews, as texts: what cannot be stored fails here as it would on a disk. */
import type { ReviewKind, ReviewKinds } from "../../../contract/review/entry.ts";
import type { StoreChange } from "../../../ports/store.ts";

interface Kept {
  readonly kind: ReviewKind;
  readonly key: string;
  readonly box: string;
  readonly text: string;
}

export class ReviewEntries {
  readonly #entries = new Map<string, Kept>();

  change({ remove, review = [] }: StoreChange): void {
    if (remove) {
      for (const [id, { box, kind }] of this.#entries)
        if (box === remove.name && kind !== "merge") this.#entries.delete(id);
    }
    for (const { kind, key, value } of review) {
      const id = JSON.stringify([value.incarnation, kind, key]);
      this.#entries.set(id, { kind, key, box: value.box, text: JSON.stringify(value) });
    }
  }

  list<K extends ReviewKind>(
    kind: K,
    { incarnation, projectDir }: { readonly incarnation?: string; readonly projectDir?: string },
  ): readonly ReviewKinds[K][] {
    return [...this.#entries.values()]
      .filter((entry) => entry.kind === kind)
      .sort((a, b) => Number.parseInt(a.key, 10) - Number.parseInt(b.key, 10) || (a.key < b.key ? -1 : 1))
      .map(({ text }) => JSON.parse(text) as ReviewKinds[K] & { projectDir?: string })
      .filter((value) => incarnation === undefined || value.incarnation === incarnation)
      .filter((value) => projectDir === undefined || value.projectDir === projectDir);
  }
}
