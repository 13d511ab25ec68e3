/** The only file that reads the process environment. */
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";

export interface HostEnv {
  /** $AGENTBOX_HOME, or ~/.agentbox, or /var/lib/agentbox for root. */
  readonly agentboxHome: string;
  readonly userHome: string;
  readonly isRoot: boolean;
  readonly uid: number;
  readonly gid: number;
  /** Who called sudo, where that made us root. */
  readonly sudoUid: number | undefined;
  readonly noColor: boolean;
  readonly isCi: boolean;
  readonly logLevel: string;
  readonly path: string;
  readonly shell: string | undefined;
  readonly term: string;
  readonly editor: string | undefined;
  /** A company's proxy that everything leaving a box must go through. May hold a password. */
  readonly upstreamProxy: string | undefined;
  /** A DNS server in place of the host's own way of resolving. */
  readonly dnsServer: string | undefined;
}

export function readHostEnv(env: NodeJS.ProcessEnv = process.env): HostEnv {
  const uid = process.getuid?.() ?? -1;
  const gid = process.getgid?.() ?? -1;
  const isRoot = uid === 0;
  const userHome = env["HOME"] ?? homedir();
  const configured = env["AGENTBOX_HOME"];
  const fallback = isRoot ? "/var/lib/agentbox" : resolve(userHome, ".agentbox");
  return {
    agentboxHome: configured ? (isAbsolute(configured) ? configured : resolve(configured)) : fallback,
    userHome,
    isRoot,
    uid,
    gid,
    sudoUid: isRoot && /^\d{1,10}$/.test(env["SUDO_UID"] ?? "") ? Number(env["SUDO_UID"]) : undefined,
    noColor: Boolean(env["NO_COLOR"]) || env["TERM"] === "dumb",
    isCi: Boolean(env["CI"]),
    logLevel: env["AGENTBOX_LOG"] ?? "info",
    path: env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    shell: env["SHELL"],
    term: env["TERM"] ?? "xterm-256color",
    editor: env["EDITOR"],
    upstreamProxy: env["AGENTBOX_UPSTREAM_PROXY"],
    dnsServer: env["AGENTBOX_DNS_SERVER"],
  };
}

/** One variable of the host's environment, for a manifest that was allowed to ask for it. */
export const readHostVariable = (name: string): string | undefined => process.env[name];

/** The whole environment, for a child that is the person's own program (the daemon, an editor). */
export const inheritedEnv = (): NodeJS.ProcessEnv => process.env;
