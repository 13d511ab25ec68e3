/** The paths that a mount may never cover or open. Pure path arithmetic: the caller resolves symbolic links first. */
import { boxPaths } from "./box.ts";

export const systemDirs = [
  "/proc",
  "/sys",
  "/dev",
  "/usr",
  "/etc",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
];
const ownDirs = [boxPaths.tools, boxPaths.run, boxPaths.secrets];
const boxDirs = [boxPaths.workspace, boxPaths.home, "/tmp", "/var/tmp"];
// SECURITY: devices, processes and control sockets (Docker, D-Bus, ssh agents): seeing one is as good as the host.
export const hostControlDirs = ["/proc", "/sys", "/dev", "/run", "/var/run"];

/** Absolute and without `//`, `.` or a slash at the end; `..` is resolved as far as it goes. */
export function normalizePath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Whether `path` is `dir` or below it; both normalized. */
export const isWithin = (path: string, dir: string): boolean =>
  path === dir || path.startsWith(dir === "/" ? "/" : `${dir}/`);

/** Absolute, without steps up or repeated slashes. */
export const isPlainAbsolute = (path: string): boolean =>
  path.startsWith("/") && !path.split("/").some((part) => part === "." || part === "..");

/** Why nothing may be mounted at this path of the box; undefined when it may. */
export function forbiddenMountTarget(target: string): string | undefined {
  const path = normalizePath(target);
  // SECURITY: a link in the box; through it, a mount would cover what is in /run.
  if (isWithin(path, "/var/run")) return "/var/run leads to /run in a box; use that path";
  const system = systemDirs.find((dir) => isWithin(path, dir));
  if (system) return `${system} belongs to the system of the box`;
  const own = ownDirs.find((dir) => isWithin(path, dir) || isWithin(dir, path));
  if (own) return `it would cover ${own}, which belongs to AgentBox`;
  const box = boxDirs.find((dir) => isWithin(dir, path));
  if (box) return `it would cover ${box}, which every box has`;
  return undefined;
}

export interface HostDirectories {
  /** Home of the person, where known. */
  readonly userHome?: string | undefined;
  /** AGENTBOX_HOME, where known. */
  readonly agentboxHome?: string | undefined;
}

/** Whether a directory is so wide that a whole home lies in it. */
export const holdsHome = (path: string, userHome: string): boolean =>
  isWithin(normalizePath(userHome), normalizePath(path));

/** Why this path of the host may not be shown to a box; undefined when it may. */
export function forbiddenMountSource(source: string, directories: HostDirectories = {}): string | undefined {
  const path = normalizePath(source);
  if (path === "/") return "it is the whole disk";
  const control = hostControlDirs.find((dir) => isWithin(path, dir) || isWithin(dir, path));
  if (control) return `${control} holds devices and control sockets of the host`;
  const { userHome, agentboxHome } = directories;
  if (userHome && holdsHome(path, userHome)) return "it is or holds a whole home directory";
  // SECURITY: the daemon's socket and store are there; a box that sees them controls every other box.
  if (agentboxHome) {
    const home = normalizePath(agentboxHome);
    if (isWithin(path, home) || isWithin(home, path)) return "AgentBox keeps its own state there";
  }
  return undefined;
}
