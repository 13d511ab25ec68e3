import type { IDisposable, Terminal } from "@xterm/xterm";

/** A part of xterm that has no public name: it tells that what comes next was done by a person. */
interface Internals {
  readonly coreService?: { onUserInput(listener: () => void): IDisposable };
}

interface Input {
  typed(text: string): void;
  /** Mouse reports in the old form, which is not text. */
  bytes(bytes: Uint8Array): void;
}

/**
 * SECURITY: what a box prints can make a terminal type: reports of its state, its size or its colours, as if a person
 * had. With several viewers each would, and a program's question, or a file that holds one, would become input. Here
 * only what a person does is input. Without the part of xterm that knows the difference, nothing is.
 */
export function onPersonInput(terminal: Terminal, input: Input): void {
  const { coreService } = (terminal as unknown as { readonly _core: Internals })._core;
  let isPerson = false;
  coreService?.onUserInput(() => {
    isPerson = true;
  });
  terminal.onData((text) => {
    if (isPerson) input.typed(text);
    isPerson = false;
  });
  terminal.onBinary((text) => input.bytes(Uint8Array.from(text, (character) => character.charCodeAt(0))));
}
