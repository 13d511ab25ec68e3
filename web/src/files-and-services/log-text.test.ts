import { expect, it } from "vitest";
import { plainLog, tailOf } from "./log-text.ts";

it("logs lose their colours and titles, and keep their words", () => {
  expect(plainLog("\u001b[32mready\u001b[0m in \u001b[1;4m3\u001b[m ms\r\n\u001b]0;title\u0007ok")).toBe(
    "ready in 3 ms\nok",
  );
  expect(plainLog("\u001b]52;c;ZXZpbA==\u0007x\u001b]8;;http://evil\u001b\\y")).toBe("xy");
});

it("only the end of a log is kept", () => {
  expect(tailOf("a\nb\nc", 2)).toBe("b\nc");
  expect(tailOf("a\nb", 5)).toBe("a\nb");
});
