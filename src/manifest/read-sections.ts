import { safeParse, type z } from "zod";
import type { Problem } from "./finding.ts";
import { knownKeysOf } from "./key-table.ts";
import { maxUnknownKeys, schemaProblems, unknownKey } from "./schema-problems.ts";
import { reservedSections } from "./schema.ts";

/** Each section by itself, so that a mistake in one does not hide the findings of another. */
export function readSections<T extends z.ZodObject>(
  raw: Readonly<Record<string, unknown>>,
  document: T,
): { problems: Problem[]; values: Partial<z.infer<T>> } {
  const sections: Readonly<Record<string, z.core.$ZodType>> = document.shape;
  const problems: Problem[] = [];
  const values: Record<string, unknown> = {};
  let unknown = 0;
  for (const [name, section] of Object.entries(raw)) {
    const schema = Object.hasOwn(sections, name) ? sections[name] : undefined;
    const result = schema && safeParse(schema, section);
    if (result === undefined) {
      unknown += 1;
      if (unknown <= maxUnknownKeys) problems.push(unknownSection(name, Object.keys(sections)));
    } else if (result.success) values[name] = result.data;
    else {
      const issues = result.error.issues.map((issue) => ({ ...issue, path: [name, ...issue.path] }));
      problems.push(...schemaProblems(issues, raw, knownKeysOf));
    }
  }
  return { problems, values: values as Partial<z.infer<T>> };
}

function unknownSection(name: string, known: readonly string[]): Problem {
  if (!Object.hasOwn(reservedSections, name)) return unknownKey([name], known);
  return {
    code: "E010",
    path: [name],
    at: "key",
    message: `This version does not know [${name}] yet (${reservedSections[name as keyof typeof reservedSections]}).`,
    hint: "Remove the section, or use an AgentBox that knows it.",
  };
}
