/** The contents of the form. Values are a partial manifest while it is written: a number may still be unfinished text. */
import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import type { CreateBoxInput } from "../../../src/contract/api/schemas.ts";

export type Values = Readonly<Record<string, unknown>>;

export interface Draft {
  readonly projectDir: string;
  readonly task: string;
  readonly name: string;
  /** Whether its agent begins at once. */
  readonly starts: boolean;
  readonly values: Values;
  /** Agents that get the same task in a race with the one of the values. */
  readonly rivals: readonly string[];
  /** How often each of them runs. */
  readonly runs: number;
}

export const emptyDraft: Draft = {
  projectDir: "",
  task: "",
  name: "",
  starts: true,
  values: {},
  rivals: [],
  runs: 1,
};

export const isRace = ({ rivals, runs }: Pick<Draft, "rivals" | "runs">): boolean =>
  rivals.length > 0 || runs > 1;

type Table = Readonly<Record<string, unknown>>;
const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function valueAt(values: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (isTable(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    values,
  );
}

/** With another value at the path; without it, and without sections that then say nothing, when it is undefined. */
export function withValue(values: Values, path: readonly string[], value: unknown): Values {
  const [key, ...rest] = path;
  if (key === undefined) return isTable(value) ? value : {};
  const below = Object.hasOwn(values, key) ? values[key] : undefined;
  const next = rest.length === 0 ? value : withValue(isTable(below) ? below : {}, rest, value);
  const isNothing =
    next === undefined || (rest.length > 0 && isTable(next) && Object.keys(next).length === 0);
  if (isNothing) {
    const { [key]: _old, ...others } = values;
    return others;
  }
  // A key that is there keeps its place, so that fields do not jump while the user types.
  return { ...values, [key]: next };
}

/** Tables side by side, anything else replaced: a preset over what is there. */
export function withValues(below: Values, above: Values): Values {
  return Object.entries(above).reduce<Values>((merged, [key, value]) => {
    const old = Object.hasOwn(merged, key) ? merged[key] : undefined;
    return { ...merged, [key]: isTable(old) && isTable(value) ? withValues(old, value) : value };
  }, below);
}

/** How many keys of a section were set. */
export const countSet = (section: unknown): number =>
  Array.isArray(section) ? section.length : isTable(section) ? Object.keys(section).length : 0;

const terminal = { cols: 120, rows: 40 };

export interface FoundProject {
  readonly dir: string;
  readonly manifest?: { readonly file: string; readonly text: string } | undefined;
}

/** The same request that the command line makes for the line that is shown beside the form. */
export function requestOf(draft: Draft, project: FoundProject | undefined, trust?: string): CreateBoxInput {
  const { name, task, starts, values } = draft;
  return {
    ...(name === "" ? {} : { name }),
    ...omitUndefined({ projectDir: project?.dir }),
    ...(project?.manifest === undefined ? {} : { manifest: { ...project.manifest } }),
    flags: { ...values },
    ...omitUndefined({ trust }),
    start: starts,
    ...(starts ? { ephemeral: name === "", ...workOf(task) } : {}),
  };
}

/** The same request for another agent; options, arguments and a version belong to one agent only. */
export function requestFor(request: CreateBoxInput, agent: string): CreateBoxInput {
  const flags: Values = request.flags ?? {};
  const isSame = valueAt(flags, ["agent", "name"]) === agent;
  const kept = isSame
    ? flags
    : ["options", "version", "args"].reduce(
        (values, key) => withValue(values, ["agent", key], undefined),
        flags,
      );
  return { ...request, flags: { ...withValue(kept, ["agent", "name"], agent) } };
}

/** The command that the box is made to run. */
export const workOf = (task: string): Pick<CreateBoxInput, "main" | "run"> =>
  task.trim() === ""
    ? { main: { terminal: true, ...terminal }, run: { mode: "interactive", ...terminal } }
    : { run: { mode: "headless", task } };
