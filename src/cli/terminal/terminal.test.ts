import { describe, expect, it, vi } from "vitest";
import type { Screen } from "../render/screen.ts";
import { ringOnQuestions } from "./bell.ts";
import { DetachKeys } from "./detach-keys.ts";
import { commandExitCode } from "./exit-code.ts";
import { PlainLines, plainText } from "./plain-lines.ts";

const bytes = (text: string) => Buffer.from(text, "utf8");

describe("plainText", () => {
  it("keeps lines and colours, and nothing that acts", () => {
    expect(plainText("\u001b[1mbold\u001b[0m\tx\n")).toBe("\u001b[1mbold\u001b[0m\tx\n");
    expect(plainText("a\u001b[2Jb\u001b]52;c;eA==\u0007c\rd\u0008e\u001b[?2004hf\u009b2Jg")).toBe("abcdefg");
    expect(
      plainText("a\u001b\n]52;c;eA==\u0007b\u001b[\u00073\u00081mc\u001b]8;;http://x.example\u0007d"),
    ).toBe("a\nb\u001b[31mcd");
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
