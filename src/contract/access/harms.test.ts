import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mostOf } from "./harms.ts";
import { scopes } from "./scope-names.ts";

const table = ["| scope | the most that a thief can do |", "|---|---|"]
  .concat(scopes.map((scope) => `| \`${scope}\` | ${mostOf(scope).join("; ")} |`))
  .join("\n");

describe("the most that a thief of a token can do", () => {
  it("is said for every scope", () => {
    for (const scope of scopes) expect(mostOf(scope), scope).not.toEqual([]);
  });

  it("is what docs/sign-in.md says", () => {
    const text = readFileSync(new URL("../../../docs/sign-in.md", import.meta.url), "utf8");
    const [, shown] = /<!-- scopes -->\n+([^]*?)\n+<!-- \/scopes -->/.exec(text) ?? [];
    expect(shown, `Put this between the marks:\n${table}\n`).toBe(table);
  });
});
