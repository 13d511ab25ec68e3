/**
 * Turns a list of rules into a classic BPF program for seccomp. Pure: rules in, bytes out, so that the program can
 * be run against a table of system calls in a test before any kernel sees it.
 */
import type { ArgumentTest, CallAction } from "../../forbidden-calls.ts";

/** Applies when every test holds; the first rule that applies decides. */
export interface Rule {
  readonly nr: number;
  readonly when: readonly ArgumentTest[];
  readonly action: CallAction;
}

export interface FilterSpec {
  /** AUDIT_ARCH value; any other architecture kills the process. */
  readonly auditArch: number;
  /** System calls from this number on did not exist when the rules were written. */
  readonly unknownFrom: number;
  readonly unknownVerdict: CallAction;
  readonly rules: readonly Rule[];
}

export interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

export const opcode = {
  load: 0x20,
  and: 0x54,
  jumpEqual: 0x15,
  jumpGreaterEqual: 0x35,
  jumpSet: 0x45,
  ret: 0x06,
} as const;

const offset = { nr: 0, arch: 4, arg: (index: number) => 16 + 8 * index } as const;

export function verdictValue(action: CallAction): number {
  if (action.kind === "errno") return 0x0005_0000 | action.errno;
  return action.kind === "allow" ? 0x7fff_0000 : 0x8000_0000;
}

const load = (k: number): Instruction => ({ code: opcode.load, jt: 0, jf: 0, k });
const ret = (action: CallAction): Instruction => ({
  code: opcode.ret,
  jt: 0,
  jf: 0,
  k: verdictValue(action),
});
const jump = (code: number, k: number, jt: number, jf: number): Instruction => ({ code, jt, jf, k: k >>> 0 });

/** Instructions of one test; `skip` is how far behind them the rule's end is. */
function testInstructions(test: ArgumentTest, skip: number): readonly Instruction[] {
  const value = load(offset.arg(test.arg));
  if ("hasAnyOf" in test) return [value, jump(opcode.jumpSet, test.hasAnyOf, 0, skip)];
  if ("is" in test) return [value, jump(opcode.jumpEqual, test.is, 0, skip)];
  const masked = test.mask === undefined ? [] : [{ code: opcode.and, jt: 0, jf: 0, k: test.mask >>> 0 }];
  return [value, ...masked, jump(opcode.jumpEqual, test.isNot, skip, 0)];
}

/** A rule as a block that falls through when it does not apply. The accumulator holds the number before and after. */
function ruleInstructions(rule: Rule): readonly Instruction[] {
  const tail: Instruction[] = [ret(rule.action)];
  if (rule.when.length === 0) return [jump(opcode.jumpEqual, rule.nr, 0, tail.length), ...tail];
  let body: readonly Instruction[] = tail;
  for (const test of rule.when.toReversed()) {
    body = [...testInstructions(test, body.length), ...body];
  }
  // The tests overwrite the accumulator, so a failed one goes on at an instruction that loads the number again.
  const block = [jump(opcode.jumpEqual, rule.nr, 0, body.length + 1), ...body, load(offset.nr)];
  return block;
}

export function assemble(spec: FilterSpec): readonly Instruction[] {
  return [
    load(offset.arch),
    jump(opcode.jumpEqual, spec.auditArch, 1, 0),
    // SECURITY: the numbers of another architecture mean other calls; a 32-bit program would walk past every rule.
    ret({ kind: "kill" }),
    load(offset.nr),
    jump(opcode.jumpGreaterEqual, spec.unknownFrom, 0, 1),
    ret(spec.unknownVerdict),
    ...spec.rules.flatMap(ruleInstructions),
    ret({ kind: "allow" }),
  ];
}

/** `struct sock_filter[]`, little endian, as bubblewrap reads it. */
export function encodeProgram(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, jt);
    view.setUint8(index * 8 + 3, jf);
    view.setUint32(index * 8 + 4, k, true);
  }
  return bytes;
}
