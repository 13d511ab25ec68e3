/** Every guarantee of a box that can be tried from inside, in the order a person would ask. */
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { boxEnv } from "../../contract/network/box-env.ts";
import { settingVariables } from "../../contract/person-variables.ts";
import { inheritedEnv } from "../../host/env.ts";
import { type Check, fails, holds, wordsOf, refused, status, untested } from "./check.ts";

/** Variables that a box has values of its own for, which may well be the same, and those of yours that it is given. */
const ordinaryVariables = new Set<string>([
  ...settingVariables,
  "PATH",
  "TERM",
  "PWD",
  "SHLVL",
  "_",
  "SHELL",
  "USER",
  "LOGNAME",
  // Settings of installers, which many machines have as well.
  "COREPACK_ENABLE_DOWNLOAD_PROMPT",
  "PIP_BREAK_SYSTEM_PACKAGES",
  "PIP_DISABLE_PIP_VERSION_CHECK",
]);
const startsMany = (count: number) => `i=0; while [ $i -lt ${count} ]; do sleep 1 & i=$((i+1)); done; wait`;

const home: Check = {
  guarantee: "Your files are not visible",
  async prove({ sh, bait }) {
    if ((await readFile(bait.path, "utf8")) !== bait.content)
      return untested("the file in your home could not be read here either");
    const seen = await sh(`cat '${bait.path}'`);
    return seen.stdout.includes(bait.content) ? fails(`${bait.path} was read`) : holds(wordsOf(seen));
  },
};

const interfaces: Check = {
  guarantee: "No network interface but loopback",
  async prove({ sh }) {
    const { stdout } = await sh("sed -n 's/^ *\\([^: ]*\\):.*/\\1/p' /proc/net/dev");
    const names = stdout.trim().split(/\s+/);
    return names.join() === "lo" ? holds(`only ${names.join()}`) : fails(names.join(", "));
  },
};

const canDial = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const settle = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", settle(true)).once("error", settle(false)).once("timeout", settle(false));
  });

const connections: Check = {
  guarantee: "No connection to the host",
  async prove({ node, port }) {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const hosts = [
      "127.0.0.1",
      ...own.filter((each) => each.family === "IPv4" && !each.internal).map((each) => each.address),
    ];
    if (!(await canDial("127.0.0.1", port)))
      return untested("the listener cannot be reached from here either");
    const script = `const net=require("node:net");Promise.all(${JSON.stringify(hosts)}.map(h=>new Promise(r=>{const s=net.connect({host:h,port:${port},timeout:1500});s.once("connect",()=>r(h+": connected"));s.once("error",e=>r(h+": "+e.code));s.once("timeout",()=>r(h+": no answer"))}))).then(a=>{console.log(a.join(", "));process.exit(0)})`;
    const { stdout } = await node(script);
    if (stdout.trim() === "") return untested("the box did not answer");
    return stdout.includes("connected") ? fails(stdout.trim()) : holds(stdout.trim());
  },
};

const processes: Check = {
  guarantee: "Your processes are not visible",
  async prove({ sh }) {
    // This very process is the bait. The brackets keep the search in the box from finding itself.
    if (!/--prove/.test(await readFile("/proc/self/cmdline", "utf8")))
      return untested("this command is not visible here either");
    const seen = await sh("grep -laE -e '--prov[e]' /proc/[0-9]*/cmdline; ls -d /proc/[0-9]* | wc -l");
    const count = seen.stdout.trim().split("\n").at(-1) ?? "?";
    return seen.stdout.includes("cmdline")
      ? fails("this very command is visible in the box")
      : holds(`${count} processes, all of the box`);
  },
};

const hostUser: Check = {
  guarantee: "Not root on the host",
  async prove({ details }) {
    const { uid } = details.box.owner;
    const text =
      details.pid === undefined ? "" : await readFile(`/proc/${details.pid}/status`, "utf8").catch(() => "");
    const real = /^Uid:\s+(\d+)/m.exec(text)?.[1];
    if (real === undefined)
      return uid === 0 ? fails("the box belongs to root") : holds(`the box belongs to user ${uid}`);
    return real === "0"
      ? fails(`process ${details.pid} is root's`)
      : holds(`process ${details.pid} belongs to user ${real}`);
  },
};

const variables: Check = {
  guarantee: "Your environment does not come along",
  async prove({ sh }) {
    const { stdout } = await sh("env");
    const inside = new Map(stdout.split("\n").map((line) => line.split(/=(.*)/s) as [string, string]));
    const leaked = Object.entries(inheritedEnv()).filter(
      ([name, value]) =>
        value && inside.get(name) === value && boxEnv[name] !== value && !ordinaryVariables.has(name),
    );
    return leaked.length === 0
      ? holds(`${inside.size - 1} variables, all its own`)
      : fails(leaked.map(([name]) => name).join(", "));
  },
};

const descriptors: Check = {
  guarantee: "No open files come along",
  async prove({ sh }) {
    const { stdout } = await sh(
      "for f in /proc/$$/fd/*; do n=${f##*/}; [ $n -gt 2 ] && readlink $f; done; true",
    );
    const extra = stdout
      .trim()
      .split("\n")
      .filter((target) => target !== "" && !target.startsWith("/proc/"));
    return extra.length === 0 ? holds("stdin, stdout and stderr") : fails(extra.join(", "));
  },
};

/** A limit that the box has: what stays below it works, what goes above it does not. */
function limit(name: string, below: string, above: string, via: "sh" | "node"): Check {
  return {
    guarantee: `Limit: ${name}`,
    async prove(bench) {
      const promise = bench.details.box.isolation.guarantees.find(
        (guarantee) => guarantee.name === `${name} limit`,
      );
      if (promise?.isEnforced !== true)
        return { result: "not enforced", evidence: promise?.by ?? "the runtime does not say" };
      const few = await bench[via](below);
      if (few.exitCode !== 0) return untested(`the control failed: ${wordsOf(few)}`);
      const many = await bench[via](above);
      return many.exitCode === 0
        ? fails("more than the limit was possible")
        : holds(`${wordsOf(many)}, by ${promise.by}`);
    },
  };
}

const allocates = (mebibytes: number) =>
  `const b=[];for(let i=0;i<${mebibytes / 16};i++)b.push(Buffer.alloc(16<<20,1));process.exit(b.length?0:1)`;
const writes = (mebibytes: number) => `head -c ${mebibytes << 20} /dev/zero > /workspace/proof.bin`;

/** Directly, because mount(8) would refuse on its own before the kernel is asked. -1 is failure. */
const systemCall = (numbers: Record<"x86_64" | "aarch64", number>, args: string) =>
  `perl -e 'my %n = (x86_64 => ${numbers.x86_64}, aarch64 => ${numbers.aarch64}); my $m = \`uname -m\`; chomp $m; my @a = (${args}); syscall($n{$m} // die("unknown machine\\n"), @a) == -1 and die "$!\\n"'`;

const tty = (request: string) =>
  `perl -e 'my $c = "x" x 64; open(my $t, "+<", "/dev/tty") or exit 0; ioctl($t, ${request}, $c) or do { print STDERR "$!\\n"; exit 1 }'`;

/** The manifest of the box of the checks, as far as this host can enforce it. */
export const provenLimits = {
  process: { pids: 128 },
  memory: { memory: "256MiB" },
  disk: { disk: "32MiB" },
} as const;

export const checks: readonly Check[] = [
  home,
  interfaces,
  connections,
  processes,
  refused("The system is read-only", "touch /usr/local/proof", "touch /workspace/proof"),
  refused("So is the root directory", "touch /proof", "touch /tmp/proof"),
  refused("And AgentBox's own files", "touch /opt/agentbox/proof", "touch $HOME/proof"),
  hostUser,
  status("No capabilities", "Cap", /: 0+$/),
  status("No new privileges", "NoNewPrivs", /: 1$/),
  status("System calls are filtered", "Seccomp:", /: 2$/),
  refused("No new user namespaces", "unshare --user true", "unshare --version"),
  refused(
    "No mounts",
    systemCall({ x86_64: 165, aarch64: 40 }, '"none", "/tmp", "tmpfs", 0, 0'),
    systemCall({ x86_64: 39, aarch64: 172 }, ""),
  ),
  refused("No typing into your terminal", tty("0x5412"), tty("0x5413"), "atTerminal"),
  variables,
  descriptors,
  limit("memory", allocates(32), allocates(1024), "node"),
  limit("disk", writes(1), writes(64), "sh"),
  // Last, because what it started is still ending when it has been answered.
  limit("process", startsMany(3), startsMany(300), "sh"),
];
