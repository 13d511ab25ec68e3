import { expect, test } from "vitest";
import type { SessionStatus } from "../../../src/contract/link/messages.ts";
import { firstSession, nextShellName } from "./sessions.ts";

const session = (id: string, startedAtMs: number) => ({ id, startedAtMs }) as SessionStatus;

test("the agent's session comes first, then the newest", () => {
  expect(firstSession([session("shell-1", 5), session("main", 1)])).toBe("main");
  expect(firstSession([session("shell-1", 5), session("shell-2", 9)])).toBe("shell-2");
  expect(firstSession([])).toBeUndefined();
});

test("a new shell takes the lowest free name", () => {
  expect(nextShellName([])).toBe("shell-1");
  expect(nextShellName([{ id: "main" }, { id: "shell-1" }, { id: "shell-3" }])).toBe("shell-2");
});
