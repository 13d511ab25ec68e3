import { safeParse } from "zod";
import type { Check } from "./check-context.ts";
import { checkSource } from "./check-mounts.ts";
import type { Problem } from "../finding.ts";
import { schemaProblems } from "../schema-problems.ts";

/** The parts of a file about its agent; the name itself is checked with the other choices. */
export const checkAgent: Check = (values, context) => {
  const { skills } = values.agent ?? {};
  return [
    ...checkOptions(values, context),
    ...(skills === undefined ? [] : checkSource(skills, ["agent", "skills"], context)),
  ];
};

/** Only where the file names the agent: otherwise it is not known here whose options they are. */
const checkOptions: Check = ({ agent = {} }, { agentOptions = {} }): Problem[] => {
  const { name = "", options } = agent;
  const schema = Object.hasOwn(agentOptions, name) ? agentOptions[name] : undefined;
  if (schema === undefined || options === undefined) return [];
  const issues = safeParse(schema, options).error?.issues ?? [];
  const ofOptions = issues.map((issue) => ({ ...issue, path: ["agent", "options", ...issue.path] }));
  return schemaProblems(ofOptions, { agent: { options } }, () => Object.keys(schema.shape));
};
