import { describe, expect, it } from "vitest";
import { TerminalGuard } from "./guard.ts";

const esc = "\u001b";
const bytes = (text: string) => Buffer.from(text, "utf8");
/** The same bytes in one piece, and one by one: where a chunk ends must not matter. */
function guarded(text: string | Buffer): string {
  const given = Buffer.from(text as string);
  const whole = Buffer.from(new TerminalGuard().push(given)).toString();
  const guard = new TerminalGuard();
  const pieces = [...given].map((byte) => Buffer.from(guard.push(Buffer.from([byte]))));
  expect(Buffer.concat(pieces).toString()).toBe(whole);
  return whole;
}

describe("TerminalGuard", () => {
  it.each([
    [
      "colours, cursor and erasing",
      `${esc}[31mred${esc}[0m${esc}[38:2::1:2:3mx${esc}[2J${esc}[10;5H${esc}[K`,
    ],
    ["a scroll region and what moves in it", `${esc}[2;10r${esc}[3S${esc}[L${esc}M${esc}7${esc}8`],
    ["the other screen", `${esc}[?1049h${esc}[?25l${esc}[?25h${esc}[?1049l`],
    ["mouse, pastes, focus, one frame at once", `${esc}[?1002;1006h${esc}[?2004h${esc}[?1004h${esc}[?2026h`],
    ["the cursor's form", `${esc}[4 q`],
    ["kitty's and xterm's keys", `${esc}[>1u${esc}[<1u${esc}[>4;2m${esc}[>4m`],
    ["lines drawn with the second alphabet", `${esc}(0lqk${esc}(B`],
    [
      "questions with harmless answers",
      `${esc}[6n${esc}[c${esc}[>q${esc}[?2026$p${esc}[?u${esc}]11;?${esc}\\`,
    ],
    ["a link to a web page", `${esc}]8;;https://example.org/a?b=c${esc}\\text${esc}]8;;${esc}\\`],
    ["other scripts", "Ã¡Â¢ é 日本 🚀 \u00a0"],
  ])("lets %s pass", (_what, text) => {
    expect(guarded(`a${text}b`)).toBe(`a${text}b`);
  });

  it.each([
    ["the clipboard", `${esc}]52;c;aGVsbG8=\u0007`],
    ["the clipboard in its long form", `${esc}]52;c;aGVsbG8=${esc}\\`],
    ["the clipboard in one character", "\u009d52;c;aGVsbG8=\u009c"],
    ["the clipboard ended by the next sequence", `${esc}]52;c;aGVsbG8=${esc}[m`],
    ["file transfers", `${esc}]1337;File=name=eA==:AAAA\u0007`],
    ["pictures from host files", `${esc}_Gf=32,t=f;L2V0Yy9wYXNzd2Q=${esc}\\`],
    ["sequences through tmux", `${esc}Ptmux;${esc}${esc}]52;c;eA==\u0007${esc}\\`],
    ["numbers that only look harmless", `${esc}]0052;c;eA==\u0007`],
    ["titles", `${esc}]0;owned\u0007${esc}]2;owned${esc}\\${esc}]1;owned\u009c`],
    ["palettes", `${esc}]4;1;#000000\u0007${esc}]10;#000\u0007${esc}]104\u0007`],
    [
      "notices, working directories, shell marks",
      `${esc}]9;x\u0007${esc}]7;file:///x\u0007${esc}]133;A\u0007`,
    ],
    ["reports of the title and window operations", `${esc}[21t${esc}[20t${esc}[8;1;1t${esc}[22;0t`],
    ["settings that a terminal would repeat", `${esc}P$qm${esc}\\${esc}P+q544e${esc}\\\u0005`],
    ["printing", `${esc}[5i${esc}[?5i${esc}[4i`],
    ["character sets in which text becomes commands", `${esc}%@${esc} G${esc}.A${esc}n${esc}o`],
    ["a locked keyboard", `${esc}[2h${esc}[12l`],
  ])("stops %s", (_what, text) => {
    const shown = guarded(`a${text}b`);
    expect(shown.replaceAll(`${esc}[m`, "")).toMatch(/^ab$/);
  });

  it.each([
    ["a line end after ESC", `${esc}\n]52;c;eA==\u0007`, "\n"],
    ["line ends all over", `${esc}\n]5\n2;c;e\rA\n==\u0007`, "\n"],
    ["a tab and a backspace", `${esc}\t\u0008]52;c;eA==${esc}\\`, "\t\u0008"],
    ["what no terminal shows", `${esc}\u0000\u007f]\u00005\u000e2;c;eA==\u0007`, ""],
    ["another ESC", `${esc}${esc}]52;c;eA==\u0007`, ""],
    ["a sequence that is given up", `${esc}[12\u0018${esc}]52;c;eA==\u0007`, ""],
    ["a report with a bell in it", `${esc}[2\u00071t`, "\u0007"],
  ])("is not led astray by %s", (_what, text, left) => {
    expect(guarded(`a${text}b`)).toBe(`a${left}b`);
  });

  it("lets what acts inside a sequence act before it, and writes the sequence anew", () => {
    expect(guarded(`${esc}[3\n1\u00081m`)).toBe(`\n\u0008${esc}[311m`);
    expect(guarded(`${esc}[0031;00099999m\u009b2J`)).toBe(`${esc}[31;9999m${esc}[2J`);
    expect(guarded("\u0085\u008d")).toBe(`${esc}E${esc}M`);
    expect(guarded(`${esc}[?1049;12345;2004h`)).toBe(`${esc}[?1049;2004h`);
  });

  it("draws bytes that are no characters as such, so that none is a command anywhere", () => {
    const given = Buffer.from([0x61, 0x9d, 0x35, 0x32, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xff, 0x62]);
    expect(guarded(given)).toMatch(/^a\ufffd52\ufffd\(\ufffd+b$/);
  });

  it("takes only web pages as links, without a name before the host", () => {
    for (const address of [
      "file:///etc/passwd",
      "javascript:x",
      "https://good.example@evil.example/",
      "ssh://x",
    ])
      expect(guarded(`${esc}]8;;${address}${esc}\\text${esc}]8;;${esc}\\`)).not.toContain(address);
  });

  it("tells no sequence that is not whole, and forgets endless ones", () => {
    expect(guarded(`a${esc}[31`)).toBe("a");
    expect(guarded(`a${esc}]8;;http://${"x".repeat(10_000)}\u0007b`)).toBe("ab");
    expect(guarded(`a${esc}[${"1;".repeat(5_000)}mb`)).toBe("ab");
  });

  it("knows whether the other screen is on", () => {
    const guard = new TerminalGuard();
    guard.push(bytes(`${esc}[?1049h...`));
    expect(guard.isAlternate).toBe(true);
    guard.push(bytes(`${esc}[?1049l`));
    expect(guard.isAlternate).toBe(false);
  });

  it("undoes what a session has left on, and nothing of the person's", () => {
    const guard = new TerminalGuard();
    const passed = guard.push(
      bytes(`${esc}[<9u${esc}[=5u${esc}[>1u${esc}[>1u${esc}[<1u${esc}[?1003;1016;2031h`),
    );
    expect(Buffer.from(passed).toString()).not.toMatch(/<9u|=5u/);
    guard.push(bytes(`${esc}[?1049h${esc}[>3u${esc}[2 q${esc}]8;;http://x.example\u0007`));
    expect(guard.hasChanged).toBe(true);
    const undone = guard.undo();
    for (const part of ["[<1u", "[?1049l", "[?1003l", "[?1016l", "[?2031l", "[0 q", "]8;;", "[?25h", "(B"])
      expect(undone).toContain(`${esc}${part}`);
    expect(guard.hasChanged).toBe(false);
    expect(guard.undo()).not.toContain("1049");
  });

  it("clears the screen instead of the whole terminal", () => {
    const shown = guarded(`a${esc}[?1049h${esc}cb`);
    expect(shown).not.toContain(`${esc}c`);
    expect(shown).toContain(`${esc}[?1049l`);
    expect(shown.endsWith(`${esc}[H${esc}[2Jb`)).toBe(true);
  });

  it("passes on without a copy what needs no change", () => {
    const chunk = bytes(`plain ${esc}[31mtext${esc}[0m é\r\n`.repeat(1_000));
    const passed = new TerminalGuard().push(chunk);
    expect(passed.buffer).toBe(chunk.buffer);
    expect(Buffer.from(passed).equals(chunk)).toBe(true);
  });
});
