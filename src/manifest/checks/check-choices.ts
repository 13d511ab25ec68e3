import { parseBytes } from "../../base/bytes.ts";
import { formatDuration, parseDuration } from "../../base/duration.ts";
import { suggest } from "../../base/suggest.ts";
import type { Check } from "./check-context.ts";
import { manifestDefaults } from "../defaults.ts";
import { type Problem, quote } from "../finding.ts";
import type { Path } from "../path.ts";

/** Names that must be on a list, limits that must make sense, times that must fit each other. */
export const checkChoices: Check = (values, context) => [
  ...knownName("E018", ["agent", "name"], values.agent?.name, context.agents),
  ...knownName("E019", ["runtime", "name"], values.runtime?.name, context.runtimes, context.offeredRuntimes),
  ...sizeFloor(["resources", "memory"], values.resources?.memory, "16MiB"),
  ...sizeFloor(["resources", "disk"], values.resources?.disk, "8MiB"),
  ...sizeFloor(["resources", "tmp"], values.resources?.tmp, "1MiB"),
  ...sizeFloor(["resources", "shm"], values.resources?.shm, "1MiB"),
  ...checkTimes(values, context),
  ...checkWorkspace(values, context),
];

function knownName(
  code: "E018" | "E019",
  path: Path,
  name: string | undefined,
  known: readonly string[] | undefined,
  offered = known,
): Problem[] {
  if (name === undefined || known === undefined || known.includes(name)) return [];
  const choices = offered ?? known;
  const meant = suggest(name, choices);
  const message = `There is no ${code === "E018" ? "agent" : "runtime"} named ${quote(name)}.`;
  return [
    { code, path, message, hint: meant ? `Did you mean "${meant}"?` : `Known: ${choices.join(", ")}.` },
  ];
}

function sizeFloor(path: Path, text: string | undefined, floor: string): Problem[] {
  const bytes = text === undefined ? undefined : parseBytes(text);
  if (bytes === undefined || bytes >= parseBytes(floor)!) return [];
  const message = `${path.join(".")} is ${quote(text)}, with which nothing can run.`;
  return [{ code: "E014", path, message, hint: `Choose at least ${floor}.` }];
}

const checkTimes: Check = ({ lifecycle = {} }, context) => {
  const problems: Problem[] = [];
  const maxTtlMs = context.maxTtlMs ?? parseDuration(manifestDefaults.limits.max_ttl)!;
  const ttlMs = parseDuration(lifecycle.ttl ?? "") ?? parseDuration(manifestDefaults.lifecycle.ttl)!;
  const idleMs = parseDuration(lifecycle.idle ?? "");
  for (const key of ["ttl", "idle"] as const) {
    if (lifecycle[key] === undefined || parseDuration(lifecycle[key])! >= 1_000) continue;
    const message = `lifecycle.${key} is ${quote(lifecycle[key])}, which ends the box before it can work.`;
    problems.push({ code: "E014", path: ["lifecycle", key], message, hint: "Choose at least 1s." });
  }
  if (lifecycle.ttl !== undefined && ttlMs > maxTtlMs) {
    problems.push({
      code: "E017",
      path: ["lifecycle", "ttl"],
      message: `lifecycle.ttl is ${quote(lifecycle.ttl)}, and the maximum is ${formatDuration(maxTtlMs)}.`,
      hint: "Choose a shorter time, or raise limits.max_ttl in the user config.",
    });
  }
  if (idleMs !== undefined && idleMs >= ttlMs) {
    problems.push({
      code: "W001",
      path: ["lifecycle", "idle"],
      message: `lifecycle.idle is ${quote(lifecycle.idle)}, and the box ends after ${formatDuration(ttlMs)} in any case.`,
      hint: "Choose an idle time shorter than the time to live.",
    });
  }
  return problems;
};

const checkWorkspace: Check = ({ workspace = {} }) => {
  const problems: Problem[] = [];
  if (workspace.mode === "mount") {
    problems.push({
      code: "W002",
      path: ["workspace", "mode"],
      message: "The agent works on your project itself, without a review in between.",
      hint: 'Use mode = "clone" unless you need to see each change at once.',
    });
  }
  if (workspace.carry === "dirty" && workspace.mode !== undefined && workspace.mode !== "clone") {
    problems.push({
      code: "W005",
      path: ["workspace", "carry"],
      message: `workspace.carry has no effect with mode = "${workspace.mode}".`,
      hint: 'Remove it, or use mode = "clone".',
    });
  }
  return problems;
};
