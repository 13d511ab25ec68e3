/**
 * The running chain of processes around one box. It is its own session and outlives its starter; its stderr is kept, up
 * to a limit, to explain a box that did not come up.
 */
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { AgentBoxError, messageOf } from "../../../base/errors.ts";
import { printable } from "../../../base/printable.ts";
import type { BubblewrapHost } from "./bubblewrap-host.ts";
import { launchArgv, type LaunchInput, type Programs } from "./launch-plan.ts";
import type { EtcFile } from "../etc-files.ts";
import { seccompProgram } from "./seccomp/filter.ts";
import { randomBytes } from "node:crypto";
import { join } from "node:path";

/* Bytes handed to a child through a descriptor: complete before the child starts, and without a name afterwards. */

/** Returns a descriptor that stands at the first byte. The caller closes it. */
function openSealedFile(directory: string, content: Uint8Array): number {
  const path = join(directory, `.${randomBytes(8).toString("hex")}.sealed`);
  const fd = openSync(path, "wx+", 0o600);
  try {
    unlinkSync(path);
    // A write at a position leaves the descriptor's own position at the start, where the child begins to read.
    let written = 0;
    while (written < content.length)
      written += writeSync(fd, content, written, content.length - written, written);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Descriptors that this process would pass on to every child, because its own starter left them open. */
const closeOnExec = 0o2000000;

/** Node opens everything with close-on-exec, so what lacks it above stderr came from outside. */
function inheritedDescriptors(): readonly number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => {
      if (fd <= 2) return false;
      try {
        const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
        return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
      } catch {
        return false;
      }
    });
}

const keptBytes = 16 * 1024;
/** SECURITY: a box that floods this pipe is no longer read, so that it cannot keep the daemon busy. */
const readBytes = 1 << 20;

export interface Chain {
  readonly pid: number;
  /** The outermost process's exit code; bubblewrap passes on how boxd ended. */
  readonly exited: Promise<number>;
  hasExited(): boolean;
  diagnostics(): string | undefined;
  /** Resolves when no more diagnostics can come, or soon after. */
  drained(): Promise<void>;
}

export interface ChainInput extends Omit<LaunchInput, "descriptors" | "programs"> {
  readonly host: BubblewrapHost;
  readonly etc: readonly EtcFile[];
  /** Private to the daemon; for files that lose their name at once. */
  readonly scratchDir: string;
  readonly reportPath: string;
}

const firstDescriptor = 3;

/** Opens what the chain reads and writes, and closes it again on this side once the child has it. */
export function startChain(input: ChainInput): Chain {
  const descriptors: number[] = [];
  try {
    descriptors.push(openSync(input.reportPath, "w", 0o600));
    descriptors.push(openSealedFile(input.scratchDir, requireSeccomp(input.host)));
    for (const { content } of input.etc)
      descriptors.push(openSealedFile(input.scratchDir, Buffer.from(content)));
    const argv = launchArgv({
      ...input,
      programs: requirePrograms(input.host),
      descriptors: {
        status: firstDescriptor,
        seccomp: firstDescriptor + 1,
        files: input.etc.map(({ path }, index) => ({ path, fd: firstDescriptor + 2 + index })),
      },
    });
    return watchChain(spawnDetached(input.host, argv, descriptors), input.name);
  } finally {
    for (const fd of descriptors) closeSync(fd);
  }
}

function requireSeccomp({ architecture }: BubblewrapHost): Uint8Array {
  const program = seccompProgram(architecture);
  if (program !== undefined) return program;
  throw new AgentBoxError(
    "runtime.unsupported",
    `There is no seccomp filter for ${architecture} processors.`,
    {
      hint: "Use another runtime on this machine.",
    },
  );
}

function requirePrograms(host: BubblewrapHost): Programs {
  const find = (name: "bwrap" | "sh" | "setpriv"): string => {
    const path = host.findProgram(name);
    if (path !== undefined) return path;
    throw new AgentBoxError("runtime.absent", `The program ${name} is not installed.`, {
      hint: "Run: agentbox doctor",
    });
  };
  return { bwrap: find("bwrap"), sh: find("sh"), setpriv: host.uid === 0 ? find("setpriv") : "setpriv" };
}

function spawnDetached(
  host: BubblewrapHost,
  argv: readonly [string, ...string[]],
  fds: readonly number[],
): ChildProcess {
  const devNull = openSync("/dev/null", "r");
  try {
    const stdio: ("ignore" | "pipe" | number)[] = ["ignore", "ignore", "pipe", ...fds];
    // SECURITY: a descriptor the daemon was started with (a shell's open file, a supervisor's pipe) would be open in
    // the box. Each is covered with /dev/null in the child; "ignore" leaves a slot above stderr as it is.
    for (const fd of inheritedDescriptors()) {
      while (stdio.length <= fd) stdio.push("ignore");
      if (fd >= firstDescriptor + fds.length) stdio[fd] = devNull;
    }
    return host.spawn(argv[0], argv.slice(1), {
      cwd: "/",
      detached: true,
      // Only for the programs of the chain; bubblewrap clears it before the box.
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C", XDG_RUNTIME_DIR: `/run/user/${host.uid}` },
      stdio,
    });
  } finally {
    closeSync(devNull);
  }
}

function watchChain(child: ChildProcess, name: string): Chain {
  const stderrParts: Buffer[] = [];
  let total = 0;
  let exitCode: number | undefined;
  child.stderr?.on("data", (chunk: Buffer) => {
    total += chunk.length;
    stderrParts.push(chunk);
    while (stderrParts.length > 1 && stderrParts.reduce((sum, part) => sum + part.length, 0) > keptBytes)
      stderrParts.shift();
    if (total > readBytes) child.stderr?.destroy();
  });
  child.stderr?.on("error", () => undefined);
  let failure: unknown;
  const exited = new Promise<number>((resolve) => {
    const finish = (code: number): void => {
      exitCode = code;
      resolve(code);
    };
    child.on("error", (error) => {
      failure = error;
      finish(127);
    });
    child.on("exit", (code, signal) => finish(code ?? (signal === "SIGKILL" ? 137 : 143)));
  });
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  child.unref();
  (child.stderr as { unref?: () => void } | null)?.unref?.();
  return {
    pid: child.pid ?? -1,
    exited,
    hasExited: () => exitCode !== undefined,
    drained: () => Promise.race([closed, new Promise<void>((resolve) => setTimeout(resolve, 200))]),
    diagnostics() {
      if (failure !== undefined) return `the chain of "${name}" could not be started: ${messageOf(failure)}`;
      // SECURITY: boxd's stderr is the box's text and is shown in a person's terminal.
      const text = Buffer.concat(stderrParts).subarray(-keptBytes).toString();
      return text === "" ? undefined : text.split("\n").map(printable).join("\n").trim();
    },
  };
}
