import { release } from "node:os";
import type { EscapeReport } from "../contract/api/doctor.ts";
import { type SeccompProfile, seccompProfile } from "../drivers/runtime/engine/seccomp-profile.ts";
import { type ArgumentTest, type CallRule, callRules } from "../drivers/runtime/forbidden-calls.ts";

interface Call {
  readonly name: string;
  readonly args: readonly number[];
}

/** Ways out of the kernel that no version number is asked about, because a box cannot get as far as the flaw. */
const closedCalls = [
  {
    advisory: "CVE-2026-31431",
    what: "the kernel's crypto sockets (AF_ALG) write where they should not",
    calls: [1, 2, 3, 5].map((kind): Call => ({ name: "socket", args: [38, kind, 0] })),
  },
] as const;

/** Asks the filters themselves, as they are handed to the kernel, and not what somebody once wrote about them. */
export function examineCalls(
  rules: readonly CallRule[] = callRules,
  profile: SeccompProfile | undefined = seccompProfile(process.arch),
): EscapeReport[] {
  return closedCalls.map(({ advisory, what, calls }) => {
    const open = [
      ...(calls.some((call) => isAllowedByRules(rules, call)) ? ["bubblewrap"] : []),
      ...(profile === undefined || calls.some((call) => isAllowedByProfile(profile, call)) ? ["docker"] : []),
    ];
    const about = { component: "kernel", version: release(), advisory, what };
    if (open.length === 0)
      return {
        ...about,
        verdict: "closed",
        detail: `${what}; boxes are refused the call, whatever the kernel`,
      };
    const detail = `${what}; boxes of ${open.join(" and ")} are not refused the call here`;
    return { ...about, verdict: "unknown", detail, hint: "Use the runtime gvisor, or update the kernel." };
  });
}

/** What the kernel would do with the embedded runtime's filter: the first rule that applies decides. */
function isAllowedByRules(rules: readonly CallRule[], { name, args }: Call): boolean {
  const first = rules.find(
    ({ syscall, when }) => syscall === name && when.every((test) => holds(test, args)),
  );
  return first === undefined || first.verdict.kind === "allow";
}

function holds(test: ArgumentTest, args: readonly number[]): boolean {
  const value = args[test.arg] ?? 0;
  if ("is" in test) return value === test.is;
  if ("hasAnyOf" in test) return (value & test.hasAnyOf) !== 0;
  return (test.mask === undefined ? value : value & test.mask) !== test.isNot;
}

/** What an engine makes of a profile: refused, unless one of its rules lets it through. */
const isAllowedByProfile = ({ syscalls }: SeccompProfile, { name, args }: Call): boolean =>
  syscalls.some(
    ({ names, action, args: tests = [] }) =>
      action === "SCMP_ACT_ALLOW" &&
      names.includes(name) &&
      tests.every(({ index, value, valueTwo }) => ((args[index] ?? 0) & value) >>> 0 === valueTwo >>> 0),
  );
