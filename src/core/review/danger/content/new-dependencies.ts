import { omitUndefined } from "../../../../base/omit-undefined.ts";
import type { Danger } from "../../../../contract/review/danger.ts";
import { lineOf } from "../json-text.ts";
import { counted, quoted } from "../sentence.ts";
import type { ContentRule } from "./content-rule.ts";
import { packageReader } from "./dependency-formats.ts";

const maxPerFile = 20;

/** Packages that a list did not name before. Another version of one that it did is in the diff, and none. */
export const newDependencies: ContentRule = {
  isByName: true,
  mayFind: (path) => packageReader(path) !== undefined,
  find(path, old, text) {
    const read = packageReader(path);
    if (!read) return [];
    const danger = (why: string, line?: number): Danger => ({
      kind: "dependency",
      path,
      ...omitUndefined({ line }),
      why,
    });
    const now = read(text);
    if (!now) return [danger("It cannot be read: which packages it adds is unknown.")];
    const before = new Set((old === undefined ? [] : (read(old) ?? [])).map(({ name }) => name));
    const fresh = new Map(
      now.filter(({ name }) => !before.has(name)).map(({ name, needle }) => [name, needle]),
    );
    const dangers = [...fresh]
      .slice(0, maxPerFile)
      .map(([name, needle]) =>
        danger(
          `New package ${quoted(name)}: its code is installed with the next install, and runs where it is used.`,
          lineOf(text, needle),
        ),
      );
    if (fresh.size > maxPerFile)
      dangers.push(danger(`${counted(fresh.size - maxPerFile, "more new package")} in this file.`));
    return dangers;
  },
};
