/** An engine's facts about itself, in our words. Pure: the engine's answers in, facts out. */
export interface EngineFacts {
  readonly kind: "docker" | "podman";
  readonly version: string;
  readonly apiVersion: string;
  /** The engine itself is an ordinary user's. */
  readonly isRootless: boolean;
  /** Containers have a user namespace of their own: the engine is rootless, or maps users (userns-remap). */
  readonly hasUserNamespaces: boolean;
  /**
   * For an engine of root's that maps users (userns-remap): the user and group of this host that are 0 in its
   * containers. The others follow. Undefined where no users are mapped, or users and groups begin with different
   * numbers.
   */
  readonly mappedFrom?: number | undefined;
  readonly cgroupVersion: 1 | 2;
  /** Which limits it can hold. */
  readonly limits: { readonly cpus: boolean; readonly memory: boolean; readonly pids: boolean };
  readonly hasApparmor: boolean;
  readonly hasSelinux: boolean;
  readonly hasSeccomp: boolean;
  /** OCI runtimes by name, such as runc or runsc. */
  readonly ociRuntimes: readonly string[];
  readonly architecture: string;
}

/** The parts of GET /version and GET /info that are read; tolerant, because two programs answer in their own ways. */
export interface EngineAnswers {
  readonly version: {
    readonly Version?: string;
    readonly ApiVersion?: string;
    readonly Arch?: string;
    readonly Components?: readonly { readonly Name?: string }[];
  };
  readonly info: {
    readonly SecurityOptions?: readonly string[] | null;
    readonly DockerRootDir?: string;
    readonly Rootless?: boolean;
    readonly CgroupVersion?: string;
    readonly MemoryLimit?: boolean;
    readonly CpuCfsQuota?: boolean;
    readonly PidsLimit?: boolean;
    readonly Runtimes?: Readonly<Record<string, unknown>> | null;
  };
}

export function engineFacts({ version, info }: EngineAnswers): EngineFacts {
  const options = (info.SecurityOptions ?? []).map((option) => option.split(",")[0]?.replace(/^name=/, ""));
  const isPodman = version.Components?.some(({ Name }) => /podman/i.test(Name ?? "")) ?? false;
  const isRootless = options.includes("rootless") || info.Rootless === true;
  const cgroupVersion = info.CgroupVersion === "2" ? 2 : 1;
  // An ordinary user is given no control group of the first version, even if the engine reports them for the machine.
  const hasGroups = !isRootless || cgroupVersion === 2;
  return {
    kind: isPodman ? "podman" : "docker",
    version: version.Version ?? "unknown",
    apiVersion: version.ApiVersion ?? "0",
    isRootless,
    hasUserNamespaces: isRootless || options.includes("userns"),
    mappedFrom: !isRootless && options.includes("userns") ? mappedFrom(info.DockerRootDir) : undefined,
    cgroupVersion,
    limits: {
      cpus: hasGroups && info.CpuCfsQuota !== false,
      memory: hasGroups && info.MemoryLimit !== false,
      pids: hasGroups && info.PidsLimit !== false,
    },
    hasApparmor: options.includes("apparmor"),
    hasSelinux: options.includes("selinux"),
    hasSeccomp: options.includes("seccomp"),
    ociRuntimes: Object.keys(info.Runtimes ?? {}),
    architecture: version.Arch ?? "",
  };
}

/** The only place where Docker says it: containers of each map have a directory of their own, named after it. */
function mappedFrom(rootDir = ""): number | undefined {
  const [, uid, gid] = /\/(\d+)\.(\d+)$/.exec(rootDir) ?? [];
  return uid !== undefined && uid === gid && Number(uid) > 0 ? Number(uid) : undefined;
}

/** The Engine API this is written against: Docker 20.10, Podman 4. */
export const oldestApi = "1.41";

export function isOlderApi(version: string, than: string = oldestApi): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = than.split(".").map(Number);
  return major !== wantedMajor ? major < wantedMajor : minor < wantedMinor;
}
