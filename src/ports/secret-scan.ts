/**
 * Looks for secrets in a text that came out of a box. Guarantees:
 * - A finding says where and of which kind; the secret itself is in no result and in no error.
 * - The text decides nothing: comments in it cannot switch the scan off, and its path is never opened.
 * - Bounded: a text of more than `maxScanBytes` is refused (review.too_large), and one that takes too long is given
 *   up (review.failed). No result is ever short without an error.
 */
export const maxScanBytes = 1 << 20;

export interface SecretFinding {
  /** From 1, counted by line feeds, as git counts. */
  readonly line: number;
  /** The last line it reaches; a private key has many. */
  readonly endLine: number;
  /** Such as "GitHub token"; never the value. */
  readonly what: string;
}

export interface SecretScan {
  readonly scan: (text: string, path: string) => Promise<readonly SecretFinding[]>;
}
