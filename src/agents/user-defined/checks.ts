import { type PlaceholderValues, fill, placeholders } from "./argument-template.ts";
import { type AgentProblem, checkCommands, checkWords } from "./command-checks.ts";
import { buildOptions } from "./options.ts";
import type { AgentFile } from "./schema.ts";

type Check = (file: AgentFile, reserved: readonly string[]) => (AgentProblem | undefined)[];

/** The rules that the schema cannot express. The first problem of the answer is the one that is shown. */
export function checkAgentFile(file: AgentFile, reserved: readonly string[]): AgentProblem[] {
  const checks: readonly Check[] = [
    checkName,
    checkInstall,
    checkCommands,
    checkInputs,
    checkOptions,
    checkEvents,
  ];
  return checks.flatMap((check) => check(file, reserved)).filter((problem) => problem !== undefined);
}

const checkName: Check = ({ name, description }, reserved) => [
  /^[a-z][a-z0-9-]*$/.test(name)
    ? undefined
    : {
        path: ["name"],
        message: `"${name}" cannot be the name of an agent.`,
        hint: "Use lower-case letters, digits and hyphens, and a letter first.",
      },
  reserved.includes(name)
    ? {
        path: ["name"],
        message: `AgentBox has an agent named "${name}" already, which cannot be redefined.`,
        hint: "Choose another name.",
      }
    : undefined,
  description.endsWith(".")
    ? undefined
    : { path: ["description"], message: "The description is not a sentence.", hint: "End it with a period." },
];

/**
 * SECURITY: package and version become arguments of a package manager, which would take an address, a path or a flag
 * in their place. The version is exact, so that what runs is what was looked at.
 */
const packageForms = {
  npm: {
    package: /^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/,
    version: /^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/,
  },
  pypi: { package: /^[A-Za-z0-9][A-Za-z0-9._-]*$/, version: /^\d+(\.\d+)*((a|b|rc|\.post|\.dev)\d+)?$/ },
} as const;
const programForm = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

const checkInstall: Check = ({ install }) => {
  const { kind, bin } = install;
  if (kind === "none") return [];
  const problems = [
    bin === undefined
      ? missing("install", "bin", "The name of its program.")
      : (kind === "path" ? bin.split("/") : [bin]).every((part) => programForm.test(part))
        ? undefined
        : {
            path: ["install", "bin"],
            message: `"${bin}" cannot be the name of a program.`,
            hint: "Write its file name.",
          },
  ];
  if (kind === "path") return problems;
  for (const key of ["package", "version"] as const) {
    const value = install[key];
    if (value === undefined) problems.push(missing("install", key, `A ${kind} package needs it.`));
    else if (!packageForms[kind][key].test(value)) {
      problems.push({
        path: ["install", key],
        message: `"${value}" is not ${key === "package" ? "the name of a package" : "an exact version"}.`,
        hint:
          key === "package" ? "Write the name as the registry has it." : 'Write a version such as "1.2.3".',
      });
    }
  }
  return problems;
};

const missing = (table: string, key: string, why: string): AgentProblem => ({
  path: [table],
  at: "key",
  message: `The key "${key}" is missing in ${table}.`,
  hint: `Add ${table}.${key}. ${why}`,
});

/** SECURITY: below the home. boxd refuses others too; here a person learns which line is wrong. */
const isSafePath = (path: string): boolean =>
  path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\\"));

const checkInputs: Check = (file) => {
  const unsafe = (path: (string | number)[], value: string): AgentProblem | undefined =>
    isSafePath(value)
      ? undefined
      : {
          path,
          message: `"${value}" is not a path below the home.`,
          hint: 'Write it like ".mybot/config.json".',
        };
  return [
    ...file.files.map(({ path }, i) => unsafe(["files", i, "path"], path)),
    ...file.files.map(({ how, text }, i) =>
      how === "merge" ? checkMerge(text, ["files", i, "text"]) : undefined,
    ),
    ...Object.entries(file.links).flatMap(([path, target]) => [
      unsafe(["links", path], path),
      checkWords(target, ["links", path], target, file),
    ]),
    ...file.state.map((path, i) => unsafe(["state", i], path)),
    ...file.login.map((path, i) => unsafe(["login", i], path)),
  ];
};

const sampleValues = Object.fromEntries(
  placeholders.map((name) => [name, "{}"]),
) as unknown as PlaceholderValues;

function checkMerge(text: string, path: (string | number)[]): AgentProblem | undefined {
  try {
    const value: unknown = JSON.parse(fill(text, sampleValues) ?? "");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return undefined;
  } catch {
    // The same sentence for both.
  }
  return {
    path,
    message: "A file that is merged must be a JSON object.",
    hint: 'Write one, or how = "replace".',
  };
}

const checkOptions: Check = ({ options }) =>
  Object.entries(options).map(([name, option]) => {
    const path = ["options", name];
    if (!/^[a-z][a-z0-9_]{0,31}$/.test(name)) {
      const hint = "Use up to 32 lower-case letters, digits and underscores, and a letter first.";
      return { path, at: "key" as const, message: `"${name}" cannot be the name of an option.`, hint };
    }
    if ((option.type === "choice") !== (option.choices !== undefined)) {
      return {
        path,
        message: "Choices belong to an option of type choice.",
        hint: "Add them, or change the type.",
      };
    }
    const hasValue = [option.flag].flat().some((text) => text.includes("{value}"));
    if (hasValue === (option.type === "switch")) {
      const message = hasValue ? "A switch has no {value}." : "The flag does not say where the value goes.";
      return {
        path: [...path, "flag"],
        message,
        hint: hasValue ? "Leave it out." : 'Write it like "--flag={value}".',
      };
    }
    if (
      option.default !== undefined &&
      !buildOptions({ [name]: option }).safeParse({ [name]: option.default }).success
    ) {
      const message = `${JSON.stringify(option.default)} is not a value of this option.`;
      return { path: [...path, "default"], message, hint: "Choose a default that the option itself takes." };
    }
    return undefined;
  });

const checkEvents: Check = ({ events = {} }) =>
  Object.entries(events).flatMap(([kind, rules]) =>
    [rules ?? []].flat().map((rule) =>
      Object.keys(rule.match).length > 0
        ? undefined
        : {
            path: ["events", kind],
            message: "This event has no match.",
            hint: 'Add one, such as { type = "text" }.',
          },
    ),
  );
