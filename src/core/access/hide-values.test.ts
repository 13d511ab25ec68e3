import { expect, it } from "vitest";
import type { Box } from "../../contract/box.ts";
import { hideValues } from "./hide-values.ts";

it("shows the names of variables and none of their values", () => {
  const env = { PASSWORD: "canary" };
  const box = {
    name: "one",
    spec: {
      agent: { name: "shell" },
      env,
      services: [{ name: "db", env }],
      mcp: [
        { transport: "stdio", name: "a", env },
        { transport: "http", name: "b", headers: { authorization: "canary" } },
      ],
    },
    main: { argv: ["sh"], env },
  } as unknown as Box;
  const hidden = hideValues(box);
  expect(JSON.stringify(box).match(/canary/g)).toHaveLength(5);
  expect(JSON.stringify(hidden)).not.toContain("canary");
  expect(hidden).toMatchObject({
    name: "one",
    spec: { agent: { name: "shell" }, env: { PASSWORD: "" }, services: [{ name: "db" }] },
    main: { argv: ["sh"] },
  });
});
