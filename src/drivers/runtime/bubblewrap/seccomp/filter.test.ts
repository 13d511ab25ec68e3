import { describe, expect, it } from "vitest";
import { assemble, type Instruction, opcode, verdictValue } from "./bpf.ts";
import { filterSpec, seccompProgram } from "./filter.ts";
import { type Architecture, auditArch, type Syscall, syscallNumber } from "./syscalls.ts";

interface Call {
  arch: number;
  nr: number;
  args?: readonly bigint[];
}

/** Runs a program as the kernel would, on the 64 bytes of `struct seccomp_data`. */
function simulate(program: readonly Instruction[], call: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call.nr, true);
  data.setUint32(4, call.arch, true);
  for (const [index, value] of (call.args ?? []).entries()) data.setBigUint64(16 + 8 * index, value, true);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const { code, jt, jf, k } = program[at]!;
    if (code === opcode.load) accumulator = data.getUint32(k, true);
    else if (code === opcode.and) accumulator = (accumulator & k) >>> 0;
    else if (code === opcode.ret) return k;
    else if (code === opcode.jumpEqual) at += accumulator === k ? jt : jf;
    else if (code === opcode.jumpGreaterEqual) at += accumulator >= k ? jt : jf;
    else if (code === opcode.jumpSet) at += (accumulator & k) !== 0 ? jt : jf;
    else throw new Error(`instruction ${code}`);
  }
}

const allow = verdictValue({ kind: "allow" });
const kill = verdictValue({ kind: "kill" });
const errno = (value: number): number => verdictValue({ kind: "errno", errno: value });
const rubbish = 0xdead_beef_0000_0000n;

type Row = [Syscall, readonly bigint[], number];
const rows: readonly Row[] = [
  ["unshare", [0n], errno(1)],
  ["mount", [], errno(1)],
  ["bpf", [], errno(1)],
  ["keyctl", [], errno(1)],
  ["io_uring_setup", [], errno(1)],
  ["userfaultfd", [], errno(1)],
  ["perf_event_open", [], errno(1)],
  ["finit_module", [], errno(1)],
  ["clone3", [], errno(38)],
  ["clone", [0x0120_0011n], allow], // fork
  ["clone", [0x003d_0f00n], allow], // a thread
  ["clone", [0x1000_0011n], errno(1)], // CLONE_NEWUSER
  ["clone", [0x0002_0011n], errno(1)], // CLONE_NEWNS
  ["clone", [rubbish | 0x4000_0011n], errno(1)],
  ["ioctl", [0n, 0x5401n], allow], // TCGETS
  ["ioctl", [0n, 0x5412n], errno(1)],
  ["ioctl", [0n, rubbish | 0x5412n], errno(1)],
  ["ioctl", [0n, 0x541cn], errno(1)],
  ["ioctl", [0n, 0x5423n], errno(1)],
  ["chmod", [0n, 0o755n], allow],
  ["chmod", [0n, 0o1777n], allow], // sticky
  ["chmod", [0n, 0o4755n], errno(1)],
  ["chmod", [0n, rubbish | 0o2755n], errno(1)],
  ["fchmod", [3n, 0o6755n], errno(1)],
  ["fchmodat", [3n, 0n, 0o4755n], errno(1)],
  ["fchmodat", [3n, 0o4755n, 0o755n], allow],
  ["fchmodat2", [3n, 0n, 0o4755n, 0n], errno(1)],
  ["creat", [0n, 0o4755n], errno(1)],
  ["mknod", [0n, 0o104755n], errno(1)],
  ["mknodat", [3n, 0n, 0o104755n], errno(1)],
  ["mknodat", [3n, 0n, 0o100755n], allow],
  ["open", [0n, 0n, 0o4755n], allow], // opens a file that is there; the mode is left over
  ["open", [0n, 0x41n, 0o644n], allow],
  ["open", [0n, 0x41n, 0o4755n], errno(1)],
  ["openat", [3n, 0n, 0x8_0000n, 0o4755n], allow],
  ["openat", [3n, 0n, rubbish | 0x41n, rubbish | 0o2755n], errno(1)],
  ["openat", [3n, 0n, 0x41_0002n, 0o4755n], errno(1)], // O_TMPFILE
  ["openat", [3n, 0n, 0x1_0000n, 0o4755n], allow], // O_DIRECTORY alone
  ["openat2", [3n, 0n, 0n, 24n], errno(38)],
  ["ptrace", [0n], allow], // TRACEME
  ["ptrace", [7n], allow], // CONT
  ["ptrace", [16n], errno(1)],
  ["ptrace", [0x4206n], errno(1)],
  ["ptrace", [rubbish | 16n], errno(1)],
  ["personality", [0n], allow],
  ["personality", [0xffff_ffffn], allow],
  ["personality", [0x0004_0000n], allow],
  ["personality", [0x0040_0000n], errno(1)], // READ_IMPLIES_EXEC
  ["personality", [8n], errno(1)],
  ["socket", [1n, 1n, 0n], allow],
  ["socket", [2n, 1n, 0n], allow],
  ["socket", [2n, 0x80801n, 6n], allow], // stream, close on exec, non-blocking
  ["socket", [10n, 2n, 17n], allow],
  ["socket", [2n, 3n, 1n], errno(1)], // raw
  ["socket", [2n, 0x80803n, 255n], errno(1)],
  ["socket", [2n, 10n, 0n], errno(1)], // packet, the old way
  ["socket", [2n, 2n, 1n], errno(93)], // ping
  ["socket", [2n, 1n, 132n], errno(93)], // SCTP
  ["socket", [16n, 3n, 0n], allow], // netlink route
  ["socket", [16n, 3n, 12n], errno(97)], // netlink netfilter
  ["socket", [17n, 3n, 0n], errno(97)], // packet
  ["socket", [38n, 5n, 0n], errno(97)], // crypto API
  ["socket", [40n, 1n, 0n], errno(97)], // vsock
  ["socket", [15n, 3n, 2n], errno(97)], // key
  ["socket", [rubbish | 38n, 5n, 0n], errno(97)],
  ["socketpair", [1n, 1n, 0n], allow],
  ["socketpair", [30n, 1n, 0n], errno(97)],
];

describe.each(["x64", "arm64"] as const satisfies readonly Architecture[])(
  "seccomp filter on %s",
  (architecture) => {
    const program = assemble(filterSpec(architecture));
    const arch = auditArch[architecture];
    const decide = (nr: number, args: readonly bigint[] = []): number =>
      simulate(program, { arch, nr, args });

    const known = rows.filter(([name]) => syscallNumber(name, architecture) !== undefined);

    it.each(known)("%s %s", (name, args, expected) => {
      expect(decide(syscallNumber(name, architecture)!, args)).toBe(expected);
    });

    it("allows everything it does not name", () => {
      const named = new Set(filterSpec(architecture).rules.map((rule) => rule.nr));
      for (let nr = 0; nr < 470; nr++) if (!named.has(nr)) expect(decide(nr), `call ${nr}`).toBe(allow);
    });

    it("knows no call from the future and none of the x32 table", () => {
      for (const nr of [470, 1000, 0x4000_0000, 0x4000_0000 + 41, 0xffff_ffff])
        expect(decide(nr)).toBe(errno(38));
    });

    it("kills a process of another architecture", () => {
      for (const other of [0x4000_0003, 0x4000_0028, 0])
        expect(simulate(program, { arch: other, nr: 39 })).toBe(kill);
    });

    it("never jumps out of the program", () => {
      for (const [index, { code, jt, jf }] of program.entries()) {
        if (code === opcode.load || code === opcode.and || code === opcode.ret) continue;
        expect(index + 1 + Math.max(jt, jf)).toBeLessThan(program.length);
        expect(Math.max(jt, jf)).toBeLessThan(256);
      }
    });
  },
);

it("has no program for a processor it does not know", () => {
  expect(seccompProgram("s390x")).toBeUndefined();
  expect(seccompProgram("x64")!.length % 8).toBe(0);
});
