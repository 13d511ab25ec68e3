import fc from "fast-check";
import { expect, it } from "vitest";
import { callRules, family, isAllowedByRules, personalities, terminal, trace } from "../forbidden-calls.ts";
import { freeCalls } from "./known-calls.ts";
import { isAllowedByProfile, prefixesWithout, seccompProfile } from "./seccomp-profile.ts";

const profile = seccompProfile("x64")!;
const ruled = [...new Set(callRules.map(({ syscall }) => syscall))];
const interesting = fc.oneof(
  fc.integer({ min: 0, max: 64 }),
  fc.constantFrom(
    ...personalities,
    ...Object.values(terminal),
    ...Object.values(trace),
    ...Object.values(family),
    0x0120_0011,
    0x1000_0011,
    0x80801,
    0x80803,
    0o755,
    0o4755,
    0o2755,
    0o1777,
    0x40,
    0x41_0002,
  ),
  fc.integer({ min: 0, max: 0xffff_ffff }),
);

it("refuses exactly what the embedded runtime refuses", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ruled),
      fc.tuple(interesting, interesting, interesting, interesting),
      (name, args) => {
        const call = { name, args };
        expect(isAllowedByProfile(profile, call), `${name} ${args.join(" ")}`).toBe(
          isAllowedByRules(callRules, call),
        );
      },
    ),
    { numRuns: 20_000 },
  );
});

it("names no call as free that has a rule, and none twice", () => {
  expect(freeCalls.filter((name) => (ruled as readonly string[]).includes(name))).toEqual([]);
  expect(new Set(freeCalls).size).toBe(freeCalls.length);
  for (const name of ["read", "fstat", "futex", "execve", "exit_group", "epoll_pwait2", "rseq"])
    expect(freeCalls).toContain(name);
});

it("writes every number but some as prefixes that do not overlap", () => {
  const values = fc.uniqueArray(fc.integer({ min: 0, max: 0xffff_ffff }), { maxLength: 5 });
  fc.assert(
    fc.property(values, fc.integer({ min: 0, max: 0xffff_ffff }), (without, number) => {
      const holding = prefixesWithout(without).filter(({ mask, value }) => (number & mask) >>> 0 === value);
      expect(holding.length).toBe(without.includes(number) ? 0 : 1);
    }),
  );
});

it("has no profile for a processor it does not know", () => {
  expect(seccompProfile("s390x")).toBeUndefined();
});
