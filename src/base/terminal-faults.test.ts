import headless from "@xterm/headless";
import { expect, it } from "vitest";
import { refuseEndlessWork, surviveFaults } from "./terminal-faults.ts";

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

it.each(["L", "M", "S", "T", "Z", "b"])("does nothing a thousand million times: %s", async (final) => {
  const terminal = new headless.Terminal({ allowProposedApi: true, cols: 80, rows: 24 });
  refuseEndlessWork(terminal);
  const began = process.cpuUsage();
  await new Promise<void>((resolve) =>
    terminal.write(`x\u001b[1000000000${final}\u001b[H\u001b[2Jafter`, resolve),
  );
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1_000).toBeLessThan(2_000);
  expect(firstLine(terminal)).toBe("after");
});

it("the control: a few times are done", async () => {
  const terminal = new headless.Terminal({ allowProposedApi: true, cols: 80, rows: 24 });
  refuseEndlessWork(terminal);
  await new Promise<void>((resolve) => terminal.write("x\u001b[3b", resolve));
  expect(firstLine(terminal)).toBe("xxxx");
});
