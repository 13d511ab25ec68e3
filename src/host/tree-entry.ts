/** One file, directory or link of a tree that travels as a stream. There is no way to say device or hard link. */
export interface TreeEntry {
  /** Names joined by "/". The first one is the root of the tree and the same in every entry. */
  readonly path: string;
  readonly kind: "file" | "dir" | "symlink";
  readonly mode: number;
  /** Bytes of content that follow; 0 for everything but files. */
  readonly size: number;
  /** Where a link points to. */
  readonly target?: string | undefined;
}

/** The entry that was left out of a copy, and why. */
export interface SkippedEntry {
  readonly path: string;
  readonly reason: string;
}
