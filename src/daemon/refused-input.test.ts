import { expect, it } from "vitest";
import { z } from "zod";
import { refusedInput } from "./refused-input.ts";

const schema = z.strictObject({
  name: z.string().min(1).max(63),
  expiresAtMs: z.number().int().min(1),
  scope: z.enum(["box", "project"]),
  boxes: z.array(z.string()),
  memoryBytes: z.number().max(4).optional(),
});

const refusal = (value: unknown) => refusedInput(schema.safeParse(value).error!, "body");

it.each([
  [{ name: "a", expiresAtMs: 0, scope: "box", boxes: [] }, "Expires at must be at least 1."],
  [{ name: "a", scope: "box", boxes: [] }, "Expires at is missing."],
  [{ name: "a", expiresAtMs: 1, scope: "all", boxes: [] }, "Scope must be one of box, project."],
  [{ name: "a", expiresAtMs: 1, scope: "box", boxes: ["a", 2] }, "Boxes, number 2 must be a string."],
  [{ name: "", expiresAtMs: 1, scope: "box", boxes: [] }, "Name is too short."],
  [{ name: "a", expiresAtMs: 1, scope: "box", boxes: [], memoryBytes: 5 }, "Memory must be at most 4."],
  [{ name: "a", expiresAtMs: 1, scope: "box", boxes: [], ttlMs: 5 }, "The body has no ttl."],
  ["text", "The body must be an object."],
])("says what is wrong without a word of the API: %j", (value, sentence) => {
  expect(refusal(value).message).toBe(sentence);
});

it("names the paths for programs", () => {
  expect(refusal({ name: "a", expiresAtMs: 0, scope: "box", boxes: [] }).facts).toEqual({
    paths: ["expiresAtMs"],
  });
});
