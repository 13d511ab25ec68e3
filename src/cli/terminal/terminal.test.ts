import { describe, expect, it, vi } from "vitest";
import type { Screen } from "../render/screen.ts";
import { ringOnQuestions } from "./bell.ts";
import { DetachKeys } from "./detach-keys.ts";
import { commandExitCode } from "./exit-code.ts";
import { TerminalGuard } from "./guard.ts";
import { PlainLines, plainText } from "./plain-lines.ts";

const bytes = (text: string) => Buffer.from(text, "utf8");
/** The same bytes in one piece, and one by one: where a chunk ends must not matter. */
function guarded(text: string): string {
  const whole = Buffer.from(new TerminalGuard().push(bytes(text))).toString();
  const guard = new TerminalGuard();
  const pieces = Buffer.concat([...bytes(text)].map((byte) => guard.push(Buffer.from([byte])))).toString();
  expect(pieces).toBe(whole);
  return whole;
}

describe("TerminalGuard", () => {
  it.each([
    ["colours and cursor", "\u001b[31mred\u001b[0m\u001b[2J\u001b[10;5H"],
    ["a title", "\u001b]0;my title\u0007"],
    ["a link", "\u001b]8;;https://example.org\u001b\\text\u001b]8;;\u001b\\"],
    ["other scripts", "Ã¡Â¢ é 日本 🚀"],
  ])("lets %s pass", (_what, text) => {
    expect(guarded(`a${text}b`)).toBe(`a${text}b`);
  });

  it.each([
    ["the clipboard", "\u001b]52;c;aGVsbG8=\u0007"],
    ["the clipboard in its long form", "\u001b]52;c;aGVsbG8=\u001b\\"],
    ["the clipboard in one character", "\u009d52;c;aGVsbG8=\u009c"],
    ["file transfers", "\u001b]1337;File=name=eA==:AAAA\u0007"],
    ["pictures from host files", "\u001b_Gf=32,t=f;L2V0Yy9wYXNzd2Q=\u001b\\"],
    ["sequences through tmux", "\u001bPtmux;\u001b\u001b]52;c;eA==\u0007\u001b\\"],
    ["numbers that only look harmless", "\u001b]0052;c;eA==\u0007"],
  ])("stops %s", (_what, text) => {
    const shown = guarded(`a${text}b`);
    expect(shown.startsWith("a")).toBe(true);
    expect(shown.endsWith("b")).toBe(true);
    expect(shown).not.toMatch(/52;c|1337|L2V0|\u009d/);
  });

  it("knows whether the other screen is on", () => {
    const guard = new TerminalGuard();
    guard.push(bytes("\u001b[?1049h..."));
    expect(guard.isAlternate).toBe(true);
    guard.push(bytes("\u001b[?1049l"));
    expect(guard.isAlternate).toBe(false);
  });

  it("passes on quickly what needs no look", () => {
    const chunk = bytes("plain text\r\n".repeat(1_000));
    expect(new TerminalGuard().push(chunk)).toBe(chunk);
  });
});

describe("plainText", () => {
  it("keeps lines and colours, and nothing that acts", () => {
    expect(plainText("\u001b[1mbold\u001b[0m\tx\n")).toBe("\u001b[1mbold\u001b[0m\tx\n");
    expect(plainText("a\u001b[2Jb\u001b]52;c;eA==\u0007c\rd\u0008e\u001b[?2004hf\u009b2Jg")).toBe(
      "abcdef2Jg",
    );
  });

  it("is not fooled by where a chunk ends", () => {
    const lines = new PlainLines();
    const shown = [...bytes("one\u001b]52;c;eA==\u0007two\nthree")]
      .map((byte) => lines.push(Buffer.from([byte])))
      .join("");
    expect(shown).toBe("onetwo\n");
    expect(lines.end()).toBe("three");
  });
});

describe("DetachKeys", () => {
  it("leaves with ctrl-], and passes on what came before", () => {
    expect(new DetachKeys().push(bytes("ab\u001dcd"))).toEqual({ forward: bytes("ab"), isDetached: true });
    expect(new DetachKeys().push(bytes("\u001b[93;5u")).isDetached).toBe(true);
  });

  it("leaves with ctrl-p ctrl-q, also in two pieces, and holds nothing back", () => {
    const keys = new DetachKeys();
    expect(keys.push(bytes("\u0010"))).toEqual({ forward: bytes("\u0010"), isDetached: false });
    expect(keys.push(bytes("\u0011")).isDetached).toBe(true);
  });

  it("is not confused by either key alone", () => {
    const keys = new DetachKeys();
    expect(keys.push(bytes("\u0011\u0010x\u0011")).isDetached).toBe(false);
  });
});

describe("commandExitCode", () => {
  it.each([
    [{ code: 0, signal: null, timedOut: false }, 0],
    [{ code: 42, signal: null, timedOut: false }, 42],
    [{ code: null, signal: "SIGTERM", timedOut: false }, 143],
    [{ code: null, signal: "KILL", timedOut: false }, 137],
    [{ code: null, signal: "SIGKILL", timedOut: true }, 124],
    [{ code: null, signal: "NONSENSE", timedOut: false }, 125],
  ])("%o is %i", (exit, code) => {
    expect(commandExitCode(exit)).toBe(code);
  });
});

describe("ringOnQuestions", () => {
  it("rings for a question and writes nothing else, until it is closed", async () => {
    const written: string[] = [];
    const screen = {
      streams: { stdout: { write: (text: string) => written.push(text) } },
    } as unknown as Screen;
    const asked = { id: 2, atMs: 0, type: "approval.asked", box: "shop", data: {} } as const;
    const queries: unknown[] = [];
    const source = {
      listEvents: async () => ({ events: [], lastId: 1 }),
      followEvents: async function* (query: unknown) {
        queries.push(query);
        yield asked;
      },
    };
    using _bell = ringOnQuestions(source, screen, "shop");
    await vi.waitFor(() => expect(written).toEqual(["\u0007"]));
    expect(queries).toEqual([{ box: "shop", type: "approval.asked", after: 1 }]);
  });

  it("is silent when the daemon does not answer", async () => {
    const listEvents = vi.fn(async () => Promise.reject(new Error("gone")));
    const followEvents = async function* () {};
    const screen = { streams: { stdout: { write: () => expect.unreachable() } } } as unknown as Screen;
    using _bell = ringOnQuestions({ listEvents, followEvents }, screen, "shop");
    await vi.waitFor(() => expect(listEvents).toHaveBeenCalled());
  });
});
