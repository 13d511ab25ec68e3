/**
 * A runtime makes boxes. It creates, starts, stops, pauses, removes, inspects and lists; everything that happens
 * inside a running box (exec, terminals, files, services) is boxd's work and the same for every runtime.
 *
 * Guarantees:
 * - A box outlives the process that started it. `list()` finds it again, for any caller, from the state of this host
 *   alone: the daemon may have been killed between any two system calls.
 * - Every method can be repeated. `stop` of a stopped box, `remove` of a box that is gone, `start` of a running
 *   one: each does nothing and succeeds.
 * - What cannot be enforced is reported by `probe` and by `isolation`, never silently dropped.
 * - A box has a file system in memory at /run/secrets, of at most 1 MiB, into which only its own user looks and of
 *   which nothing is left on any disk of the host when it ends.
 * - A box never runs as the host's root, has no network but its own loopback, and sees only `dirs`, `mounts`,
 *   `tools` and a read-only system.
 */
import type {
  BoxOwner,
  Isolation,
  MountSpec,
  PersonSettings,
  ResourceSpec,
  SecurityException,
} from "../contract/box.ts";
import type { ContainerDescription } from "../contract/container.ts";
import type { GuardedEntry } from "../contract/guarded-paths.ts";

/** Ready, not here, or here and not working: three different things to tell a person. */
export type RuntimeProbe =
  | { readonly status: "ready"; readonly version: string; readonly detail: string }
  | { readonly status: "absent"; readonly reason: string; readonly fix: RuntimeFix }
  | { readonly status: "broken"; readonly reason: string; readonly fix: RuntimeFix };

export interface RuntimeFix {
  /** One sentence for a person. */
  readonly hint: string;
  /** Debian package names that would help, if any; `npm start` installs these when it may. */
  readonly packages: readonly string[];
}

/** The directories of one box on the host; the storage makes them and gives them their owner before `start`. */
export interface BoxDirs {
  /** Private to the daemon: the driver's own records live here. Never visible in the box. */
  readonly runtime: string;
  /** Mounted read-only at /run/agentbox: link.sock and box.json. */
  readonly link: string;
  /** Mounted at /home/agent. */
  readonly home: string;
  /** Mounted at /workspace. */
  readonly workspace: string;
}

/** The trees that are mounted read-only under /opt/agentbox. */
export interface BoxTools {
  /** The Node binary that runs boxd. */
  readonly node: string;
  /** The directory that holds boxd.js and its native parts. */
  readonly boxd: string;
  /** Directories of the tool store, by agent; each is seen at /opt/agentbox/agents/<name>. */
  readonly agents?: Readonly<Record<string, string>> | undefined;
  /** A directory of skills, seen at /opt/agentbox/skills. */
  readonly skills?: string | undefined;
}

/** A directory of the host, by its real path, and the place at which the box sees it. */
export interface ShownDirectory {
  readonly source: string;
  readonly target: string;
}

export interface RuntimeBox {
  readonly name: string;
  readonly owner: BoxOwner;
  readonly dirs: BoxDirs;
  readonly tools: BoxTools;
  readonly mounts: readonly MountSpec[];
  /**
   * Toolchains of the host, read-only. One that is no longer there is left out, and files in which installers keep
   * credentials are empty.
   */
  readonly toolchains?: readonly ShownDirectory[] | undefined;
  readonly resources: ResourceSpec;
  /** The author of commits where a repository names none. */
  readonly git?: PersonSettings["git"] | undefined;
  /**
   * The root of the box, for runtimes that have images: built here, by content, with `tools` inside, so that nothing is
   * put into it at a start. Without it, the host's own system, read-only.
   */
  readonly image?: string | undefined;
  /** Exceptions beyond the baseline, by name and with a reason; a runtime that cannot do one refuses to start. */
  readonly exceptions?: readonly SecurityException[] | undefined;
  /** Facts for people and tools that look at the runtime directly. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Host files that stand, read-only, in place of the system's own, such as the certificates to trust. */
  readonly files?: readonly { readonly source: string; readonly target: string }[] | undefined;
  /**
   * For a workspace that is a directory of the host: names in its top that the box can neither change nor, where they
   * are absent, make. A runtime that cannot keep them so refuses to start the box.
   */
  readonly guarded?:
    | {
        readonly entries: readonly GuardedEntry[];
        readonly suffixes: readonly string[];
        /** A directory of the box's own that it sees, and may write, in place of the workspace's `.git`. */
        readonly ownGit?: string | undefined;
      }
    | undefined;
}

/**
 * - `running`: its supervisor lives. `paused`: it lives, frozen.
 * - `stopped`: it was started and has ended, or was never started.
 */
export interface RuntimeStatus {
  readonly name: string;
  readonly phase: "running" | "paused" | "stopped";
  /** Host process id of the box's first process; only for people and tests. */
  readonly pid?: number | undefined;
  /** How the last run ended, where the runtime knows. */
  readonly exitCode?: number | undefined;
  /** The last lines the runtime said before the box ended, for "why did it not come up". */
  readonly diagnostics?: string | undefined;
}

/** The names of a box's limits in `isolation`, in every runtime; the disk is the storage's. */
export const limitGuarantees = { cpus: "cpu limit", memory: "memory limit", pids: "process limit" } as const;

export interface RuntimeUsage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly processes: number;
}

export interface Runtime extends AsyncDisposable {
  readonly name: string;
  /** The guarantees for a box made from `box` on this host, and those that are missing. */
  isolation(box: Pick<RuntimeBox, "resources">): Isolation;
  /** Boots boxd. Resolves when the box's first process exists; boxd itself then dials the link. */
  start(box: RuntimeBox): Promise<RuntimeStatus>;
  /** Ends every process of the box: asks, waits `graceMs`, then kills. */
  stop(name: string, options: { readonly graceMs: number }): Promise<void>;
  /** Freezes every process of the box. */
  pause(name: string): Promise<void>;
  resume(name: string): Promise<void>;
  /** Ends the box at once and forgets it: no process, control group, mount or record is left. */
  remove(name: string): Promise<void>;
  /** Undefined when this runtime knows no box of that name. */
  find(name: string): Promise<RuntimeStatus | undefined>;
  /** Every box this runtime has on this host, running or not. */
  list(): Promise<readonly RuntimeStatus[]>;
  usage(name: string): Promise<RuntimeUsage | undefined>;
  /**
   * Where a runtime knows only some users of the host inside its boxes: those that boxes can belong to, each with the
   * group of the same number. Undefined, or without it: any unprivileged user.
   */
  owners?(): { readonly firstUid: number; readonly count: number } | undefined;
  /**
   * The container that an engine is asked to make for the box, for people who run it without us; only where there is an
   * engine.
   */
  describe?(box: RuntimeBox): Promise<ContainerDescription>;
  /** Calls back once each time a running box ends by itself or by `stop`; returns the way to stop listening. */
  onEnd(listener: (status: RuntimeStatus) => void): () => void;
}

export interface RuntimeOptions {
  /** Where boxes live: `<boxesDir>/<name>/runtime` holds each driver's records. */
  readonly boxesDir: string;
}

/** A driver, as data. `main/builtins.ts` is the only place that names concrete ones. */
export interface RuntimeModule {
  readonly kind: "runtime";
  readonly name: string;
  readonly apiVersion: 1;
  readonly description: string;
  probe(): Promise<RuntimeProbe>;
  open(options: RuntimeOptions): Promise<Runtime>;
}
