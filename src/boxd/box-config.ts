import { readFileSync } from "node:fs";
import { boxPaths } from "../contract/box-paths.ts";
import type { BoxdConfig } from "../contract/link/messages.ts";
import { homeBins, installerEnv, nodeHeaders, shimDirs, systemBins, systemEnv } from "./home-programs.ts";

/** The host wrote this file and boxd trusts it; a file that is not there or no config is a reason not to start. */
export function readBoxConfig(path: string): BoxdConfig {
  const config = JSON.parse(readFileSync(path, "utf8")) as BoxdConfig;
  if (
    typeof config.box !== "string" ||
    typeof config.workspace !== "string" ||
    !Array.isArray(config.services)
  ) {
    throw new TypeError(`${path} is not a boxd config`);
  }
  return config;
}

const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The PATH without the directories at its end, which a PATH of the manifest's has as well. */
function searchPath({ toolchainPath = [] }: BoxdConfig): string {
  const directories = [...homeBins, ...shimDirs(), ...toolchainPath, ...systemBins(), systemPath];
  return [...new Set(directories)].join(":");
}

/** The variables that every process in the box starts with; the manifest's and the caller's variables win over them. */
export function boxEnv(config: BoxdConfig, ...more: Record<string, string>[]): Record<string, string> {
  const base = {
    HOME: boxPaths.home,
    USER: "agent",
    LOGNAME: "agent",
    SHELL: "/bin/bash",
    PATH: searchPath(config),
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    HOSTNAME: config.hostname,
    // Words that bash, dash and busybox all understand; a shell's own start-up file may set another.
    PS1: `agent@${config.hostname}:$PWD$ `,
    AGENTBOX: "1",
    AGENTBOX_BOX: config.box,
    ...installerEnv,
    ...systemEnv(),
    ...nodeHeaders(searchPath(config)),
  };
  const env = Object.assign(base, config.env, ...more) as Record<string, string>;
  // Its own servers, called by the box's name.
  for (const name of ["NO_PROXY", "no_proxy"])
    if (env[name] !== undefined) env[name] = `${env[name]},${config.hostname}`;
  // At the end, so that our Node never hides one the box has itself.
  env["PATH"] = [env["PATH"], ...(config.path ?? []), `${boxPaths.tools}/bin`].join(":");
  return env;
}
