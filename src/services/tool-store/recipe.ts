/** The inputs of a recipe, and the facts that it must report about the tree it made. */
import { AgentBoxError } from "../../base/errors.ts";

export interface Fetch {
  readonly agent: string;
  /** Where the tree is made; empty. */
  readonly tree: string;
  /** A directory for what is needed only now. */
  readonly scratch: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: (message: string) => void;
  readonly signal: AbortSignal;
}

export interface Fetched {
  readonly version: string;
  readonly package?: string | undefined;
  readonly integrity?: string | undefined;
  /** Path of the program below the tree. */
  readonly program: string;
}

const versionPattern = /^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$/;

/**
 * SECURITY: the version becomes part of an argument of a package manager and of a path. `npm:other@1`, a URL or `../x`
 * would be another package or another source.
 */
export function checkVersion(version: string): string {
  if (versionPattern.test(version) && !version.includes("..")) return version;
  throw new AgentBoxError("input.invalid", `"${version.slice(0, 64)}" is not a version.`, {
    hint: "Give a version such as 1.2.3, or latest.",
  });
}

/** The part of a package manager's output that says what went wrong. */
export const lastWords = (lines: readonly string[]): string =>
  lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(-3)
    .join(" ")
    .slice(0, 500);
