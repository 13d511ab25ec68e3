import type { BoxDetails } from "../../contract/api/schemas.ts";
import type { Captured } from "../boxes/capture.ts";

export type ProofResult = "holds" | "fails" | "untested" | "not enforced";

export interface Proof {
  readonly guarantee: string;
  readonly result: ProofResult;
  /** The attempt, and the system's answer. */
  readonly evidence: string;
}

/** The means of a check: commands in the box, and bait on the host. */
export interface Bench {
  readonly sh: (script: string) => Promise<Captured>;
  /** At a terminal of the box. */
  readonly atTerminal: (script: string) => Promise<Captured>;
  readonly node: (script: string) => Promise<Captured>;
  readonly details: BoxDetails;
  /** A file in the home directory of the person, and its content. */
  readonly bait: { readonly path: string; readonly content: string };
  /** A port on which this very process listens on the host. */
  readonly port: number;
}

export interface Check {
  readonly guarantee: string;
  prove(bench: Bench): Promise<Omit<Proof, "guarantee">>;
}

export const holds = (evidence: string) => ({ result: "holds", evidence }) as const;
export const fails = (evidence: string) => ({ result: "fails", evidence }) as const;
export const untested = (evidence: string) => ({ result: "untested", evidence }) as const;

/** The reason in what a program said first: `touch: cannot touch '/x': Read-only file system` → the last part. */
export const wordsOf = ({ stderr, stdout, exitCode }: Captured): string =>
  ((stderr.trim() || stdout.trim()).split("\n")[0] ?? "").split(": ").at(-1)!.trim().slice(0, 90) ||
  `exit code ${exitCode}`;

/**
 * Something must be refused. The control is the same kind of action where it is allowed: without it, a missing
 * program would look like a guarantee.
 */
export function refused(
  guarantee: string,
  attempt: string,
  control: string,
  via: "sh" | "atTerminal" = "sh",
): Check {
  return {
    guarantee,
    async prove(bench) {
      const allowed = await bench[via](control);
      if (allowed.exitCode !== 0) return untested(`the control failed: ${wordsOf(allowed)}`);
      const tried = await bench[via](attempt);
      return tried.exitCode === 0 ? fails(`it worked: ${attempt}`) : holds(wordsOf(tried));
    },
  };
}

/** A line of /proc/self/status must have this value. */
export function status(guarantee: string, field: string, expected: RegExp): Check {
  return {
    guarantee,
    async prove(bench) {
      const { stdout } = await bench.sh(`grep '^${field}' /proc/self/status`);
      const values = stdout
        .trim()
        .split("\n")
        .map((line) => line.replace(/\s+/, " "));
      if (stdout.trim() === "") return untested(`the kernel does not say ${field}`);
      return values.every((line) => expected.test(line))
        ? holds(values.slice(0, 2).join(", "))
        : fails(values.join(", "));
    },
  };
}
