import type { Danger } from "../../../../contract/review/danger.ts";

/** A rule that looks into a file. */
export interface ContentRule {
  /** It reads files of certain names, and of an old one only with the same name. */
  readonly isByName?: true;
  /**
   * Whether it could find something: cheap, because it is asked of every file that changed. Only then the old content is
   * read.
   */
  mayFind(path: string, text: string): boolean;
  /** The text that is added; `old` is undefined where there was no file of this name. */
  find(path: string, old: string | undefined, text: string): Danger[];
}

interface LinesFound {
  readonly kind: Danger["kind"];
  readonly path: string;
  readonly found: readonly { readonly line: number; readonly why: string }[];
  /** "such line" of "3 more such lines follow in this file." */
  readonly noun: string;
}

export const maxPerFile = 20;

/** At most twenty of a file, and a sentence for the rest. */
export function lineDangers({ kind, path, found, noun }: LinesFound): Danger[] {
  const dangers: Danger[] = found.slice(0, maxPerFile).map(({ line, why }) => ({ kind, path, line, why }));
  const left = found.length - maxPerFile;
  if (left > 0)
    dangers.push({ kind, path, why: `${left} more ${noun}${left === 1 ? "" : "s"} in this file.` });
  return dangers;
}
