import type { Check } from "./check-context.ts";
import { type Problem, quote } from "../finding.ts";
import { envFiles, envVariables } from "../env-files.ts";
import type { Path } from "../path.ts";
import { maxEnvVariables } from "../schema.ts";

/**
 * Set by AgentBox. PATH is not among them: it is only looked at inside the box, where the agent could change it
 * anyway, and tool chains need it. The proxy variables are: the way out of a box is not the manifest's to choose.
 */
const ownNames = new Set(["HOME", "USER", "LOGNAME", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]);
/** They load code into every program. */
export const loaders = new Set([
  "LD_PRELOAD",
  "LD_AUDIT",
  "LD_LIBRARY_PATH",
  "NODE_OPTIONS",
  "BASH_ENV",
  "PYTHONSTARTUP",
]);

/** SECURITY: set by AgentBox, or what controls it. */
export const isOwn = (name: string): boolean => ownNames.has(name.toUpperCase()) || isControl(name);
const isControl = (name: string): boolean => name.toUpperCase().startsWith("AGENTBOX");

export const checkEnv: Check = ({ env = {}, services = {} }) => {
  const names = envVariables(env).map(([name]) => name);
  const problems = [...checkNames(["env"], names), ...checkHostNames(env), ...checkFiles(env)];
  for (const [name, service] of Object.entries(services)) {
    problems.push(...checkNames(["services", name, "env"], Object.keys(service.env ?? {})));
  }
  return problems;
};

function checkNames(path: Path, names: readonly string[]): Problem[] {
  const problems: Problem[] = [];
  if (names.length > maxEnvVariables) {
    const message = `There are ${names.length} environment variables, and at most ${maxEnvVariables} are allowed.`;
    problems.push({
      code: "E014",
      path,
      at: "key",
      message,
      hint: "Put them into a file that the program reads.",
    });
  }
  for (const name of names) {
    if (isOwn(name)) {
      const message = `The environment variable ${quote(name)} is set by AgentBox.`;
      problems.push({
        code: "E021",
        path: [...path, name],
        at: "key",
        message,
        hint: "Remove it, or choose another name.",
      });
    } else if (loaders.has(name)) {
      const message = `${quote(name)} loads code into every program of the box.`;
      problems.push({
        code: "W004",
        path: [...path, name],
        at: "key",
        message,
        hint: "Set it in the one command that needs it.",
      });
    }
  }
  return problems;
}

// SECURITY: AGENTBOX_* of the host may hold what controls the daemon; a box never receives it, trusted or not.
function checkHostNames(env: NonNullable<Parameters<Check>[0]["env"]>): Problem[] {
  return envVariables(env).flatMap(([name, value]): Problem[] => {
    if (typeof value === "string" || !isControl(value.from_host)) return [];
    const message = `The host's ${quote(value.from_host)} belongs to AgentBox and is not handed to a box.`;
    return [{ code: "E021", path: ["env", name, "from_host"], message, hint: "Remove it." }];
  });
}

/** SECURITY: only files of the project: a manifest must not name a file of the person's home. */
function checkFiles(env: NonNullable<Parameters<Check>[0]["env"]>): Problem[] {
  const misplaced = Object.entries(env).flatMap(([name, value]): Problem[] =>
    Array.isArray(value) && name !== "files"
      ? [
          {
            code: "E074",
            path: ["env", name],
            message: `env.${name} is a list, and only env.files can be one.`,
            hint: "Write a text.",
          },
        ]
      : [],
  );
  const outside = envFiles(env).flatMap(({ path }, index): Problem[] =>
    path.startsWith("/") ||
    path.startsWith("~") ||
    path.split("/").some((part) => ["", ".", ".."].includes(part))
      ? [
          {
            code: "E074",
            path: ["env", "files", index],
            message: `env.files names ${quote(path)}, which is not a plain path below the project.`,
            hint: 'Write a path such as ".env" or "config/dev.env".',
          },
        ]
      : [],
  );
  return [...misplaced, ...outside];
}
