/** Engines whose programs are on this host, and how each is started here. Runs none of them. */
import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import { readHostEnv, readHostVariable } from "../env.ts";

export interface InstalledEngine {
  readonly name: "Docker" | "Podman";
  /** A command of this host. */
  readonly start: string;
}

export interface EngineHost {
  readonly uid: number;
  readonly path: string;
  /** Whether systemd runs the services of this host; containers and some distributions have none. */
  readonly hasSystemd: boolean;
}

const ownHost = async (): Promise<EngineHost> => ({
  uid: readHostEnv().uid,
  path: readHostVariable("PATH") ?? "/usr/sbin:/usr/bin:/sbin:/bin",
  hasSystemd: (await stat("/run/systemd/system").catch(() => undefined))?.isDirectory() ?? false,
});

export async function installedEngines(host?: EngineHost): Promise<readonly InstalledEngine[]> {
  const here = host ?? (await ownHost());
  const [hasDocker, hasPodman] = await Promise.all([isOnPath(here, "dockerd"), isOnPath(here, "podman")]);
  return [
    ...(hasDocker ? [{ name: "Docker" as const, start: startDocker(here) }] : []),
    ...(hasPodman ? [{ name: "Podman" as const, start: startPodman(here) }] : []),
  ];
}

const startDocker = ({ uid, hasSystemd }: EngineHost): string => {
  if (hasSystemd)
    return uid === 0
      ? "systemctl start docker"
      : "systemctl --user start docker (or, for all users, sudo systemctl start docker)";
  return uid === 0 ? "dockerd &" : "sudo dockerd &";
};

/** Its command works without an engine that runs; what boxes need is its API on a socket. */
const startPodman = ({ uid, hasSystemd }: EngineHost): string => {
  if (hasSystemd) return `systemctl${uid === 0 ? "" : " --user"} start podman.socket`;
  const socket = uid === 0 ? "/run/podman/podman.sock" : "$XDG_RUNTIME_DIR/podman/podman.sock";
  return `podman system service --time=0 unix://${socket} &`;
};

async function isOnPath({ path }: EngineHost, program: string): Promise<boolean> {
  const found = await Promise.all(
    path
      .split(":")
      .filter((directory) => directory.startsWith("/"))
      .map((directory) =>
        access(join(directory, program), constants.X_OK).then(
          () => true,
          () => false,
        ),
      ),
  );
  return found.includes(true);
}
