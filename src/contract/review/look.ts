/** The state of a box's work that was last shown to one caller: what they merge is this, or nothing. */
export interface Look {
  readonly box: string;
  readonly incarnation: string;
  /** Who it was shown to: the owner, a person or a token. */
  readonly who: string;
  /** Digest of the review that was shown. */
  readonly digest: string;
  readonly atMs: number;
  /** Its slot; there are few, and the oldest look is replaced. */
  readonly slot: number;
}
