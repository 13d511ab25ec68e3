import { expect, it } from "vitest";
import type { Box } from "../../contract/box.ts";
import { pageWarning, parseForward } from "./port-forward.ts";

it.each([
  ["3000", { port: 3000, local: 3000 }],
  ["3000:8080", { port: 3000, local: 8080 }],
  ["3000:0", { port: 3000, local: 0 }],
])("%s", (text, wanted) => {
  expect(parseForward(text, "shop")).toEqual(wanted);
});

it.each(["", "0", "web", "65536", "3000:", "3000:x", "3000:80:90", "0:80", "-1", "3e3"])(
  "refuses %j",
  (text) => {
    expect(() => parseForward(text, "shop")).toThrow(expect.objectContaining({ code: "input.invalid" }));
  },
);

it("warns of pages where the box has secrets", () => {
  const warningFor = (secrets: readonly object[]) =>
    pageWarning({ name: "shop", spec: { secrets } as unknown as Box["spec"] });
  expect(warningFor([])).toBeUndefined();
  expect(warningFor([{}])).toContain("agentbox preview shop");
});
