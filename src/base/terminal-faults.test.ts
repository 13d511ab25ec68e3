import headless from "@xterm/headless";
import { expect, it } from "vitest";
import { surviveFaults } from "./terminal-faults.ts";

/** The cursor after the last cell, and then all up to it is erased. */
const fault = `\u001b[24;80Hx\u001b[1J`;

const firstLine = (terminal: headless.Terminal): string | undefined =>
  terminal.buffer.active.getLine(0)?.translateToString(true);

it("goes on after a sequence at which xterm throws", async () => {
  const terminal = new headless.Terminal({ allowProposedApi: true, cols: 80, rows: 24 });
  expect(surviveFaults(terminal)).toBe(true);
  for (const text of [fault, fault, "\u001b[H\u001b[2Jafter"])
    await new Promise<void>((resolve) => terminal.write(text, resolve));
  expect(firstLine(terminal)).toBe("after");
});

it("the control: without it the terminal throws", () => {
  const terminal = new headless.Terminal({ allowProposedApi: true, cols: 80, rows: 24 });
  const { _core } = terminal as unknown as { _core: { writeSync(text: string): void } };
  expect(() => _core.writeSync(fault)).toThrow();
});

it("says when a terminal is made otherwise", () => {
  expect(surviveFaults({})).toBe(false);
});
