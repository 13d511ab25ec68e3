/**
 * The system calls that a box may not make. The box has no capabilities to begin with; this takes away the parts of the
 * kernel that need none and that escapes are made from. Compilers, debuggers, Node, Python and git work under it. One
 * list for every runtime that filters system calls.
 */

export type CallAction =
  | { readonly kind: "allow" }
  | { readonly kind: "kill" }
  | { readonly kind: "errno"; readonly errno: number };

/**
 * A test of one argument. SECURITY: only the low 32 bits are compared. The kernel takes the arguments tested here
 * as 32-bit values, so a filter that compared all 64 could be passed with rubbish in the high half.
 */
export type ArgumentTest =
  | { readonly arg: number; readonly is: number }
  | { readonly arg: number; readonly isNot: number; readonly mask?: number }
  | { readonly arg: number; readonly hasAnyOf: number };

const errno = (value: number): CallAction => ({ kind: "errno", errno: value });
const allow: CallAction = { kind: "allow" };
const notPermitted = errno(1);
const noSuchCall = errno(38);
const noSuchProtocol = errno(93);
const noSuchFamily = errno(97);

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
export const newNamespaces = 0x7e02_0000;
export const family = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
/** The low bits of a socket's type; the others are SOCK_CLOEXEC and SOCK_NONBLOCK. */
export const socketKind = 0xf;
export const kind = { stream: 1, datagram: 2 } as const;
export const protocol = { any: 0, tcp: 6, udp: 17 } as const;
export const terminal = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c, TIOCSETD: 0x5423 } as const;
export const trace = { attach: 16, seize: 0x4206 } as const;
/** PER_LINUX, ADDR_NO_RANDOMIZE (debuggers) and "only tell me". */
export const personalities = [0, 0x0004_0000, 0xffff_ffff] as const;

/** S_ISUID and S_ISGID. */
export const setIdBits = { user: 0o4000, group: 0o2000 } as const;
/** O_CREAT, and the bit of O_TMPFILE that is its own: with neither, what is in place of the mode means nothing. */
export const makesFile = { create: 0x40, unnamed: 0x40_0000 } as const;
/**
 * Calls that give a file its mode, and the number of that argument. mkdir is not one: the kernel itself leaves the bits
 * out.
 */
export const modeCalls = {
  chmod: 1,
  fchmod: 1,
  fchmodat: 2,
  fchmodat2: 2,
  creat: 1,
  mknod: 1,
  mknodat: 2,
} as const;
/** Those that give one only if they make the file: which arguments are flags and mode. */
export const openCalls = { open: { flags: 1, mode: 2 }, openat: { flags: 2, mode: 3 } } as const;

export const alwaysDenied = [
  // Namespaces and mounts: with a user namespace of its own a box has every capability in it, and the kernel's
  // least tested code in reach.
  "unshare",
  "setns",
  "mount",
  "umount2",
  "move_mount",
  "open_tree",
  "open_tree_attr",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  "mount_setattr",
  "pivot_root",
  "chroot",
  // Kernel programs, counters, keys and rings: large, and reachable without any capability.
  "bpf",
  "perf_event_open",
  "add_key",
  "keyctl",
  "request_key",
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
  // Lets a thread stop the kernel in the middle of a copy, which turns races into reliable exploits.
  "userfaultfd",
  // The machine itself.
  "init_module",
  "finit_module",
  "delete_module",
  "kexec_load",
  "kexec_file_load",
  "reboot",
  "swapon",
  "swapoff",
  "acct",
  "quotactl",
  "quotactl_fd",
  "settimeofday",
  "clock_settime",
  "clock_adjtime",
  "adjtimex",
  "syslog",
  "sethostname",
  "setdomainname",
  "vhangup",
  "iopl",
  "ioperm",
  // Files by handle leave the mount they came from.
  "name_to_handle_at",
  "open_by_handle_at",
  "fanotify_init",
  // Other processes' memory and descriptors.
  "process_vm_readv",
  "process_vm_writev",
  "process_madvise",
  "pidfd_getfd",
  "kcmp",
  // Old and unused.
  "_sysctl",
  "lookup_dcookie",
  "modify_ldt",
  "nfsservctl",
  "sysfs",
  "uselib",
  "ustat",
] as const;

const conditional = [
  "clone",
  "clone3",
  "ioctl",
  "ptrace",
  "personality",
  "socket",
  "socketpair",
  "openat2",
] as const;
/** Every call a rule speaks about. */
export type RuledCall =
  | (typeof alwaysDenied)[number]
  | (typeof conditional)[number]
  | keyof typeof modeCalls
  | keyof typeof openCalls;

export interface CallRule {
  readonly syscall: RuledCall;
  readonly when: readonly ArgumentTest[];
  readonly action: CallAction;
}

const setId = setIdBits.user | setIdBits.group;

const rule = (syscall: RuledCall, when: readonly ArgumentTest[], action: CallAction): CallRule => ({
  syscall,
  when,
  action,
});

/** The first rule that applies decides, so the exceptions stand before what they are exceptions from. */
export const callRules: readonly CallRule[] = [
  ...alwaysDenied.map((name) => rule(name, [], notPermitted)),
  rule("clone", [{ arg: 0, hasAnyOf: newNamespaces }], notPermitted),
  // The flags of clone3 are behind a pointer that a filter cannot follow. "No such call" makes libc use clone.
  rule("clone3", [], noSuchCall),
  // SECURITY: input pushed into a shared terminal is typed as that terminal's owner.
  ...Object.values(terminal).map((request) => rule("ioctl", [{ arg: 1, is: request }], notPermitted)),
  // A program that asks to be traced, and its tracer, stay allowed: a debugger runs its own child.
  ...Object.values(trace).map((request) => rule("ptrace", [{ arg: 0, is: request }], notPermitted)),
  rule(
    "personality",
    personalities.map((value) => ({ arg: 0, isNot: value })),
    notPermitted,
  ),
  // Only interface and route questions; the other netlink protocols reach audit, crypto, netfilter and more.
  rule(
    "socket",
    [
      { arg: 0, is: family.netlink },
      { arg: 2, is: protocol.any },
    ],
    allow,
  ),
  rule("socket", [{ arg: 0, is: family.unix }], allow),
  rule(
    "socket",
    [family.inet, family.inet6].map((value) => ({ arg: 0, isNot: value })),
    noSuchFamily,
  ),
  // IPv4 and IPv6 remain: no raw sockets, and no protocol but TCP and UDP.
  rule(
    "socket",
    [kind.stream, kind.datagram].map((value) => ({ arg: 1, mask: socketKind, isNot: value })),
    notPermitted,
  ),
  rule(
    "socket",
    Object.values(protocol).map((value) => ({ arg: 2, isNot: value })),
    noSuchProtocol,
  ),
  rule("socketpair", [{ arg: 0, isNot: family.unix }], noSuchFamily),
  // SECURITY: in a directory of the host that is mounted, such a file lets other people of the machine act as its owner.
  ...(Object.entries(modeCalls) as [keyof typeof modeCalls, number][]).map(([name, arg]) =>
    rule(name, [{ arg, hasAnyOf: setId }], notPermitted),
  ),
  ...(Object.entries(openCalls) as [keyof typeof openCalls, { flags: number; mode: number }][]).map(
    ([name, { flags, mode }]) =>
      rule(
        name,
        [
          { arg: flags, hasAnyOf: makesFile.create | makesFile.unnamed },
          { arg: mode, hasAnyOf: setId },
        ],
        notPermitted,
      ),
  ),
  // Its mode is behind a pointer that a filter cannot follow. Programs that try it know kernels without, and use openat.
  rule("openat2", [], noSuchCall),
];

export interface Call {
  readonly name: string;
  readonly args: readonly number[];
}

/** The kernel's reading of the embedded runtime's filter: the first rule that applies decides; without one, yes. */
export function isAllowedByRules(rules: readonly CallRule[], { name, args }: Call): boolean {
  const first = rules.find(
    ({ syscall, when }) => syscall === name && when.every((test) => holds(test, args)),
  );
  return first === undefined || first.action.kind === "allow";
}

function holds(test: ArgumentTest, args: readonly number[]): boolean {
  const value = (args[test.arg] ?? 0) >>> 0;
  if ("is" in test) return value === test.is;
  if ("hasAnyOf" in test) return (value & test.hasAnyOf) !== 0;
  return (test.mask === undefined ? value : value & test.mask) >>> 0 !== test.isNot;
}
