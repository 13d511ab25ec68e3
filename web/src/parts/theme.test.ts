/** One scale of sizes: what is written in a style sheet comes from theme.css, so that pages look alike. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const sheets = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".css") && !path.endsWith("theme.css"),
);

/** A hairline, or a place that is made for a thing of that size, such as an icon in a field. */
const isOnScale = (value: string): boolean =>
  [...value.matchAll(/(\d+(?:\.\d+)?)px/g)].every(([, size]) => Number(size) <= 1 || Number(size) > 24);

it.each(sheets)("%s uses the scale", (path) => {
  const text = readFileSync(join(root, path), "utf8");
  const rules = [...text.matchAll(/(?<![\w-])(font-size|(?:padding|margin|gap)[a-z-]*):([^;]+);/g)];
  const strays = rules.filter(([, property, value = ""]) =>
    property === "font-size" ? /\d(px|rem|em)/.test(value) : !isOnScale(value),
  );
  expect(strays.map(([all]) => all.trim())).toEqual([]);
});

it("would find a stray size", () => {
  expect(isOnScale(" 7px var(--space-2)")).toBe(false);
  expect(isOnScale(" 1px var(--space-2)")).toBe(true);
});
