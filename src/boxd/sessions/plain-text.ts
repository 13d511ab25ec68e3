const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;
/** Introduces U+0080 to U+00BF in UTF-8; the lower half of those are control characters. */
const latinLead = 0xc2;

const isControl = (byte: number): boolean =>
  byte < 0x20 && byte !== newline && byte !== carriageReturn && byte !== tab;

/**
 * Where the text at the end of `bytes` begins that has no control character but line ends and tabs. `before` is the
 * byte that came last, because a character may be cut in two.
 */
export function plainTailStart(bytes: Uint8Array, before: number): number {
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    const byte = bytes[at]!;
    if (isControl(byte)) return at + 1;
    if (byte < 0xa0 && byte >= 0x80 && (at === 0 ? before : bytes[at - 1]) === latinLead) return at + 1;
  }
  return 0;
}

/**
 * The end of a text that begins with "\r\n" and has at least `lines` line ends after it; undefined when the text is
 * shorter. It begins there because that puts the cursor in the first column in any case.
 */
export function tailOfLines(parts: readonly Uint8Array[], lines: number): Uint8Array[] | undefined {
  let seen = 0;
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts[index]!;
    let at = part.lastIndexOf(newline);
    while (at >= 0) {
      if (seen >= lines && at > 0 && part[at - 1] === carriageReturn) {
        return [part.subarray(at - 1), ...parts.slice(index + 1)];
      }
      seen += 1;
      at = at === 0 ? -1 : part.lastIndexOf(newline, at - 1);
    }
  }
  return undefined;
}
