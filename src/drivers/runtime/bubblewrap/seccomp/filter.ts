/** The list of what a box may not ask the kernel for, as a program that the kernel runs on every system call. */
import { callRules } from "../../forbidden-calls.ts";
import { assemble, encodeProgram, type FilterSpec, type Rule } from "./bpf.ts";
import { type Architecture, auditArch, syscallNumber, unknownFrom } from "./syscalls.ts";

/** ENOSYS. */
const noSuchCall = 38;

export function filterSpec(architecture: Architecture): FilterSpec {
  const rules: Rule[] = [];
  for (const { syscall, when, action } of callRules) {
    const nr = syscallNumber(syscall, architecture);
    if (nr !== undefined) rules.push({ nr, when, action });
  }
  // SECURITY: a list of denials must not allow what was invented after it. The x32 calls (bit 30) end here too.
  return {
    auditArch: auditArch[architecture],
    unknownFrom,
    unknownVerdict: { kind: "errno", errno: noSuchCall },
    rules,
  };
}

/** The program for this processor; undefined where none has been written. */
export function seccompProgram(architecture: string): Uint8Array | undefined {
  if (architecture !== "x64" && architecture !== "arm64") return undefined;
  return encodeProgram(assemble(filterSpec(architecture)));
}
