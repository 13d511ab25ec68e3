export interface Paste {
  readonly text: string;
  /** The reason why it is dangerous to hand over unseen; undefined without one. */
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
 * SECURITY: the content of the clipboard often comes from a web page. A line end runs a command in a shell before the
 * user has read it, and an end-of-paste mark makes a program take the rest for typed keys. A program that asked for
 * brackets knows that it is a paste, so it gets the text without controls; any other gets it after the user has seen
 * it.
 */
export function preparePaste(text: string, isBracketed: boolean): Paste {
  const unmarked = withoutBrackets(text);
  const plain = unmarked.replace(controls, "");
  if (isBracketed) return { text: plain, warning: undefined };
  if (plain !== unmarked) return { text: unmarked, warning: "controls" };
  return { text: unmarked, warning: /[\r\n]/.test(unmarked) ? "lines" : undefined };
}
