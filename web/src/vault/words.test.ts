import { expect, it } from "vitest";
import { outcomeOf, resultText, scopeText, sourceText } from "./words.ts";

it("says where a value is, and never what it is", () => {
  expect(sourceText({ source: { kind: "stored" } })).toBe("in the vault");
  expect(sourceText({ source: { kind: "command", argv: ["pass", "show"] } })).toBe("command pass show");
});

it("says whom a grant is for", () => {
  expect(scopeText({ kind: "box", box: "shop", incarnation: "x" })).toBe("the box shop");
  expect(scopeText({ kind: "agent", agent: "claude" })).toBe("every box of the agent claude");
});

it("tells a use from a refusal, and both from a server that is away", () => {
  expect(outcomeOf({ isInjected: true })).toBe("used");
  expect(outcomeOf({ isInjected: false, reason: "secret_not_granted" })).toBe("refused");
  expect(outcomeOf({ reason: "unreachable" })).toBe("not sent");
  expect(resultText({ status: 200 })).toBe("answered 200");
  expect(resultText({ reason: "secret_not_granted" })).toContain("no person has agreed");
});
