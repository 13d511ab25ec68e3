/** Trees that cross the border of a box, in both directions: see tree-reader and tree-writer for the guarantees. */
export type { SkippedEntry, TreeEntry } from "./tree-entry.ts";
export { readTree, type TreeItem } from "./tree-reader.ts";
export { openTreeWriter, type WrittenTree } from "./tree-writer.ts";
