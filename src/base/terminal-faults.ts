/** Parts of xterm.js that have no public name. */
interface Internals {
  readonly _core?: {
    readonly _writeBuffer?: {
      _action?: (data: string | Uint8Array, isHandled?: boolean) => unknown;
    };
  };
}

/**
 * Lets a terminal of xterm.js go on after a sequence at which it throws. There are some, such as erasing up to the last cell
 * of a full screen. SECURITY: without this, one such sequence stops a terminal for good, and what comes after it waits for ever.
 * Returns false where the terminal is made otherwise than is known here.
 */
export function surviveFaults(terminal: object): boolean {
  const buffer = (terminal as Internals)._core?._writeBuffer;
  const parse = buffer?._action;
  if (!buffer || typeof parse !== "function") return false;
  buffer._action = (data, isHandled) => {
    try {
      return parse(data, isHandled);
    } catch {
      // The rest of this piece is not drawn.
      return undefined;
    }
  };
  return true;
}

interface Repeating {
  readonly parser: {
    registerCsiHandler(
      id: { final: string },
      handler: (params: readonly (number | number[])[]) => boolean,
    ): unknown;
  };
}

const mostRepeats = 10_000;

/**
 * SECURITY: xterm scrolls, repeats a character, and puts in and takes out lines as often as it is told, one by one: with a
 * number that a box chooses the page, and the session in the box, would stand still for hours.
 */
export function refuseEndlessWork(terminal: Repeating): void {
  for (const final of ["L", "M", "S", "T", "Z", "I", "b"])
    terminal.parser.registerCsiHandler({ final }, ([count]) => Number(count) > mostRepeats);
}
