import { printable } from "../../../base/printable.ts";

const maxQuoted = 80;

/** A piece of the box's text in our sentence: short, and without characters that act on a terminal. */
export function quoted(text: string): string {
  const short = text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text;
  // Halves of pairs, and tags, which `printable` leaves as they are.
  return `"${printable(short).replaceAll(/[\ud800-\udfff\u{e0000}-\u{e01ef}]/gu, "�")}"`;
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
