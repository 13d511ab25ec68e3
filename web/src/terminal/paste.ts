export interface Paste {
  readonly text: string;
  /** What makes it dangerous to hand over unseen; undefined when nothing does. */
  readonly warning: "lines" | "controls" | undefined;
}

// oxlint-disable-next-line no-control-regex
const brackets = /(?:\u001b\[|\u009b)20[01]~/g;
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Again and again, because what is left on both sides of a removed mark may be the next one. */
function withoutBrackets(text: string): string {
  let before: string;
  let after = text;
  do {
    before = after;
    after = before.replace(brackets, "");
  } while (after !== before);
  return after;
}

/**
 * SECURITY: what lies in the clipboard was often put there by a web page. A line end runs a command in a shell before
 * anybody has read it, and an end-of-paste mark makes a program take the rest for typed keys. A program that asked for
 * brackets is told what is pasted, so it gets the text without controls; any other gets it after a person has seen it.
 */
export function preparePaste(text: string, isBracketed: boolean): Paste {
  const unmarked = withoutBrackets(text);
  const plain = unmarked.replace(controls, "");
  if (isBracketed) return { text: plain, warning: undefined };
  if (plain !== unmarked) return { text: unmarked, warning: "controls" };
  return { text: unmarked, warning: /[\r\n]/.test(unmarked) ? "lines" : undefined };
}
