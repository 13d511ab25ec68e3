import { release } from "node:os";
import type { EscapeReport } from "../contract/api/schemas/daemon.ts";
import {
  isAllowedByProfile,
  type SeccompProfile,
  seccompProfile,
} from "../drivers/runtime/engine/seccomp-profile.ts";
import { type Call, type CallRule, callRules, isAllowedByRules } from "../drivers/runtime/forbidden-calls.ts";

/** Ways out of the kernel that no version number is asked about, because a box cannot get as far as the flaw. */
const closedCalls = [
  {
    advisory: "CVE-2026-31431",
    what: "the kernel's crypto sockets (AF_ALG) write where they should not",
    calls: [1, 2, 3, 5].map((kind): Call => ({ name: "socket", args: [38, kind, 0] })),
  },
] as const;

/** Asks the filters themselves, as they are handed to the kernel, and not a description of them. */
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
