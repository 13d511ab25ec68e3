import { describe, expect, it } from "vitest";
import { sentHeaders } from "./sent-headers.ts";

const names = (headers: readonly string[]) => headers.filter((_, i) => i % 2 === 0);

describe("headers of a box", () => {
  it.each([
    ["who pays", "OpenAI-Organization", "org-1"],
    ["a project of OpenAI", "OpenAI-Project", "proj-1"],
    ["a project of Google", "x-goog-user-project", "p"],
    ["an account", "ChatGPT-Account-Id", "a"],
    ["a workspace of Anthropic", "anthropic-workspace-id", "w"],
    ["a profile of Anthropic", "anthropic-user-profile-id", "u"],
    ["a tier of Google", "x-goog-service-tier", "priority"],
    ["a timeout that keeps a place", "x-server-timeout", "900"],
    ["another method", "x-http-method-override", "DELETE"],
    ["another address", "x-original-url", "/v1/files"],
    ["another sender", "x-forwarded-for", "127.0.0.1"],
    ["another reading of the body", "Content-Type", "application/json; charset=utf-7"],
    ["a server to pass it on to", "x-upstream-base-url", "https://attacker.test"],
    ["a beta that keeps files", "anthropic-beta", "files-api-2025-04-14"],
    ["a beta of which nobody knows", "anthropic-beta", "everything-2030-01-01, mcp-client-2025-11-20"],
    ["a beta with another spelling", "anthropic_beta", "claude-code-20250219"],
    ["a beta of OpenAI", "OpenAI-Beta", "assistants=v2"],
  ])("are dropped where they choose %s", (_, name, value) => {
    expect(sentHeaders([name, value, "user-agent", "x"])).toEqual(["user-agent", "x"]);
  });

  it("go on as the agents send them", () => {
    const headers = {
      Accept: "application/json",
      "User-Agent": "x",
      "anthropic-version": "2023-06-01",
      "x-app": "cli",
      "X-Stainless-Lang": "js",
      "x-claude-code-session-id": "s",
      "x-codex-turn-metadata": "{}",
      originator: "codex_exec",
      "session-id": "s",
      "x-goog-api-client": "g",
      "x-initiator": "agent",
      "x-session-affinity": "s",
      "OpenAI-Beta": "responses_websockets=2026-02-06",
      "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14",
    };
    const sent = Object.entries(headers).flat();
    expect(sentHeaders(sent)).toEqual(sent);
  });

  it("keep the known ones of a list", () => {
    const sent = sentHeaders([
      "anthropic-beta",
      "effort-2025-11-24 , skills-2025-10-02,,context-1m-2025-08-07",
    ]);
    expect(sent).toEqual(["anthropic-beta", "effort-2025-11-24,context-1m-2025-08-07"]);
  });

  it("that Connection names are for the next one only", () => {
    expect(names(sentHeaders(["Connection", "close, X-App", "x-app", "cli", "accept", "a"]))).toEqual([
      "accept",
    ]);
  });
});
