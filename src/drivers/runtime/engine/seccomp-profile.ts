/**
 * The same refusals as the embedded runtime's, in the form that engines read. Pure. Engines compare 64 bits and join
 * the comparisons of one argument by "or", so everything is said as masked equalities of the low 32 bits.
 */
import {
  type Call,
  alwaysDenied,
  family,
  kind,
  makesFile,
  modeCalls,
  newNamespaces,
  openCalls,
  personalities,
  protocol,
  setIdBits,
  socketKind,
  terminal,
  trace,
} from "../forbidden-calls.ts";
import { freeCalls } from "./known-calls.ts";

export interface SeccompArgument {
  readonly index: number;
  readonly op: "SCMP_CMP_MASKED_EQ";
  /** The mask. */
  readonly value: number;
  readonly valueTwo: number;
}

export interface SeccompRule {
  readonly names: readonly string[];
  readonly action: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO";
  readonly errnoRet?: number;
  readonly args?: readonly SeccompArgument[];
}

export interface SeccompProfile {
  readonly defaultAction: "SCMP_ACT_ERRNO";
  readonly defaultErrnoRet: number;
  /** SECURITY: the native one alone. The numbers of another mean other calls, and any of them kills the process. */
  readonly architectures: readonly string[];
  readonly syscalls: readonly SeccompRule[];
}

const low32 = 0xffff_ffff;
const noSuchCall = 38;
const notPermitted = 1;

const masked = (index: number, mask: number, value: number): SeccompArgument => ({
  index,
  op: "SCMP_CMP_MASKED_EQ",
  value: mask,
  valueTwo: value,
});
const is = (index: number, value: number): SeccompArgument => masked(index, low32, value);

const allow = (name: string, ...args: readonly SeccompArgument[]): SeccompRule => ({
  names: [name],
  action: "SCMP_ACT_ALLOW",
  args,
});

/** Every 32-bit number but these, as the fewest prefixes: the way a network without some addresses is written. */
export function prefixesWithout(values: readonly number[]): readonly { mask: number; value: number }[] {
  const split = (prefix: number, bits: number): readonly { mask: number; value: number }[] => {
    const mask = bits === 0 ? 0 : (low32 << (32 - bits)) >>> 0;
    if (!values.some((value) => (value & mask) >>> 0 === prefix)) return [{ mask, value: prefix }];
    if (bits === 32) return [];
    return [...split(prefix, bits + 1), ...split((prefix | (1 << (31 - bits))) >>> 0, bits + 1)];
  };
  return split(0, 0);
}

const allowExcept = (name: string, index: number, values: readonly number[]): readonly SeccompRule[] =>
  prefixesWithout(values).map(({ mask, value }) => allow(name, masked(index, mask, value)));

const internetSockets = [family.inet, family.inet6].flatMap((domain) =>
  Object.values(kind).flatMap((type) =>
    Object.values(protocol).map((number) =>
      allow("socket", is(0, domain), masked(1, socketKind, type), is(2, number)),
    ),
  ),
);

const deny = (name: string, ...args: readonly SeccompArgument[]): SeccompRule => ({
  names: [name],
  action: "SCMP_ACT_ERRNO",
  errnoRet: notPermitted,
  args,
});

/** Modes without set-id bits; with one of them, "not permitted", which programs know how to take. */
const modes: readonly SeccompRule[] = Object.entries(modeCalls).flatMap(([name, mode]) => [
  allow(name, masked(mode, setIdBits.user | setIdBits.group, 0)),
  ...Object.values(setIdBits).map((bit) => deny(name, masked(mode, bit, bit))),
]);

const opened: readonly SeccompRule[] = Object.entries(openCalls).flatMap(([name, { flags, mode }]) => [
  allow(name, masked(flags, makesFile.create | makesFile.unnamed, 0)),
  allow(name, masked(mode, setIdBits.user | setIdBits.group, 0)),
  ...Object.values(makesFile).flatMap((flag) =>
    Object.values(setIdBits).map((bit) => deny(name, masked(flags, flag, flag), masked(mode, bit, bit))),
  ),
]);

const architectures: Readonly<Record<string, string>> = {
  x64: "SCMP_ARCH_X86_64",
  arm64: "SCMP_ARCH_AARCH64",
};

/** Undefined for a processor whose calls have not been reviewed. */
export function seccompProfile(architecture: string): SeccompProfile | undefined {
  const native = architectures[architecture];
  if (native === undefined) return undefined;
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: noSuchCall,
    architectures: [native],
    syscalls: [
      { names: freeCalls, action: "SCMP_ACT_ALLOW" },
      // Said although refused by default: programs take "not permitted" better than "no such call" from these.
      { names: alwaysDenied, action: "SCMP_ACT_ERRNO", errnoRet: notPermitted },
      { names: ["clone3", "openat2"], action: "SCMP_ACT_ERRNO", errnoRet: noSuchCall },
      allow("clone", masked(0, newNamespaces, 0)),
      ...allowExcept("ioctl", 1, Object.values(terminal)),
      ...allowExcept("ptrace", 0, Object.values(trace)),
      ...personalities.map((value) => allow("personality", is(0, value))),
      allow("socket", is(0, family.unix)),
      allow("socket", is(0, family.netlink), is(2, protocol.any)),
      ...internetSockets,
      allow("socketpair", is(0, family.unix)),
      ...modes,
      ...opened,
    ],
  };
}

/** An engine's reading of a profile: refused, unless the first rule that applies lets it through. */
export const isAllowedByProfile = ({ syscalls }: SeccompProfile, { name, args }: Call): boolean =>
  syscalls.find(
    ({ names, args: tests = [] }) =>
      names.includes(name) &&
      tests.every(({ index, value, valueTwo }) => ((args[index] ?? 0) & value) >>> 0 === valueTwo >>> 0),
  )?.action === "SCMP_ACT_ALLOW";
