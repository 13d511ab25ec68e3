import { expect, it } from "vitest";
import { type ValueField, takeText, takeValue } from "./secret-value.ts";

const field = (value: string) => ({ value }) as ValueField;
const decode = (text: string) => Buffer.from(text, "base64").toString("utf8");

it("reads a value once and leaves the field empty", () => {
  const one = field("pa ss\nwörd 🔑");
  expect(decode(takeValue(one))).toBe("pa ss\nwörd 🔑");
  expect(one.value).toBe("");
  expect(takeValue(one)).toBe("");
  expect(takeValue(null)).toBe("");
});

it("takes values of any length", () => {
  const long = "x€".repeat(20_000);
  expect(decode(takeValue(field(long)))).toBe(long);
});

it("does the same for a passphrase", () => {
  const one = field("open sesame");
  expect(takeText(one)).toBe("open sesame");
  expect(one.value).toBe("");
});
