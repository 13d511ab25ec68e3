/** ctrl-] as a byte and as the kitty keyboard protocol writes it. */
const ctrlBracket = 0x1d;
const kittyCtrlBracket = Buffer.from("\u001b[93;5u");
const ctrlP = 0x10;
const ctrlQ = 0x11;

/**
 * Watches what a person types for the wish to leave: ctrl-], or ctrl-p ctrl-q. Nothing is held back while waiting
 * for a second key, so that ctrl-p itself stays as quick as any other.
 */
export class DetachKeys {
  #sawCtrlP = false;

  push(typed: Buffer): { readonly forward: Buffer; readonly isDetached: boolean } {
    const kitty = typed.indexOf(kittyCtrlBracket);
    for (let at = 0; at < typed.length; at++) {
      const byte = typed[at]!;
      const isLeaving = byte === ctrlBracket || at === kitty || (byte === ctrlQ && this.#sawCtrlP);
      if (isLeaving) return { forward: typed.subarray(0, at), isDetached: true };
      this.#sawCtrlP = byte === ctrlP;
    }
    return { forward: typed, isDetached: false };
  }
}
