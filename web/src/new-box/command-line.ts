/** The form as the command that does the same. */
import { inlineToml, tomlKey } from "../../../src/manifest/toml/toml-text.ts";
import { type Draft, type Values, isRace, valueAt, withValue } from "./draft.ts";
import { shellLine } from "./shell-quote.ts";

/** Keys that are one flag with one value. */
const flags: readonly (readonly [flag: string, section: string, key: string])[] = [
  ["agent-version", "agent", "version"],
  ["autonomy", "agent", "autonomy"],
  ["model", "model", "name"],
  ["workspace", "workspace", "mode"],
  ["carry", "workspace", "carry"],
  ["runtime", "runtime", "name"],
  ["tier", "runtime", "tier"],
  ["memory", "resources", "memory"],
  ["cpus", "resources", "cpus"],
  ["pids", "resources", "pids"],
  ["disk", "resources", "disk"],
  ["ttl", "lifecycle", "ttl"],
  ["idle", "lifecycle", "idle"],
  ["network", "network", "default"],
];

/** A value that begins with a hyphen would be taken for the next flag. */
const flag = (name: string, value: string): string[] =>
  value.startsWith("-") ? [`--${name}=${value}`] : [`--${name}`, value];

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number =>
  typeof value === "number" && /^\d+(\.\d+)?$/.test(String(value));

/** Takes keys out of what is left to say, one way of saying after the other. */
class Saying {
  readonly words: string[] = [];
  #left: Values;

  constructor(values: Values) {
    this.#left = values;
  }

  take<T>(
    path: readonly string[],
    isSayable: (value: unknown) => value is T,
    say: (value: T) => string[],
  ): void {
    const value = valueAt(this.#left, path);
    if (!isSayable(value)) return;
    this.words.push(...say(value));
    this.#left = withValue(this.#left, path, undefined);
  }

  /** Settings without a flag, as lines of the manifest. */
  rest(): string[] {
    return Object.entries(this.#left).flatMap(([section, entries]) =>
      Array.isArray(entries) || typeof entries !== "object" || entries === null
        ? flag("set", `${tomlKey([section])} = ${inlineToml(entries)}`)
        : Object.entries(entries).flatMap(([key, value]) =>
            value === undefined ? [] : flag("set", `${tomlKey([section, key])} = ${inlineToml(value)}`),
          ),
    );
  }
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every(isText);
const isTrue = (value: unknown): value is true => value === true;
const isEntries = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isSingle = (value: unknown): value is string | number => isText(value) || isNumber(value);

const envName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** With a colon in it, a path would end early. */
const flatPath = /^\/[^:]*$/;

interface Mount {
  readonly source: string;
  readonly target: string;
  readonly access?: string;
}
const isMountList = (value: unknown): value is Mount[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    (mount: unknown) =>
      isEntries(mount) &&
      isText(mount["source"]) &&
      isText(mount["target"]) &&
      flatPath.test(mount["source"]) &&
      flatPath.test(mount["target"]) &&
      [undefined, "read", "write"].includes(mount["access"] as string | undefined) &&
      Object.keys(mount).every((key) => ["source", "target", "access"].includes(key)),
  );

/** The words after `agentbox`. */
export function commandWords(draft: Draft, trust?: string): string[] {
  const { name, task, starts, values, rivals, runs } = draft;
  const races = isRace(draft);
  const saying = new Saying(values);
  const { words } = saying;
  let agent: string[] = [];
  let args: string[] = [];
  saying.take(["agent", "name"], isText, (value) => ((agent = [value]), []));
  // Arguments go after `--`, which only `run` passes on.
  if (starts && !races) saying.take(["agent", "args"], isTextList, (value) => ((args = value), []));
  for (const [name, section, key] of flags)
    saying.take([section, key], isSingle, (value) => flag(name, String(value)));
  saying.take(["budget", "run", "tokens"], isNumber, (value) => flag("budget-tokens", String(value)));
  saying.take(["budget", "run", "usd"], isNumber, (value) => flag("budget-usd", String(value)));
  const options = valueAt(values, ["agent", "options"]);
  for (const option of isEntries(options) ? Object.keys(options) : [])
    if (!option.includes("="))
      saying.take(["agent", "options", option], isSingle, (value) => flag("option", `${option}=${value}`));
  saying.take(["network", "learn"], isTrue, () => ["--learn"]);
  saying.take(["network", "presets"], isTextList, (list) => list.flatMap((one) => flag("preset", one)));
  saying.take(["network", "allow"], isTextList, (list) => list.flatMap((one) => flag("allow", one)));
  const env = valueAt(values, ["env"]);
  for (const variable of isEntries(env) ? Object.keys(env) : [])
    if (envName.test(variable))
      saying.take(["env", variable], isText, (value) => flag("env", `${variable}=${value}`));
  saying.take(["mounts"], isMountList, (mounts) =>
    mounts.flatMap(({ source, target, access }) =>
      flag("mount", `${source}:${target}${access === "write" ? ":rw" : ""}`),
    ),
  );
  const start = races
    ? [
        "race",
        ...flag("agents", [...agent, ...rivals].join(",")),
        ...(runs > 1 ? flag("n", String(runs)) : []),
      ]
    : [starts ? "run" : "create", ...agent];
  return [
    ...start,
    ...(name === "" ? [] : flag("name", name)),
    ...((starts || races) && task.trim() !== "" ? flag("task", task) : []),
    ...words,
    ...saying.rest(),
    ...(trust === undefined ? [] : flag("trust", trust)),
    ...(starts && !races ? ["--detach"] : []),
    ...(args.length === 0 ? [] : ["--", ...args]),
  ];
}

/** To paste into a terminal. */
export function commandLine(draft: Draft, trust?: string): string {
  const line = shellLine(["agentbox", ...commandWords(draft, trust)]);
  return draft.projectDir === "" ? line : `${shellLine(["cd", draft.projectDir])} && ${line}`;
}
