import { type Problem, quote } from "./finding.ts";
import type { Path } from "./path.ts";

/** Words of container engines that take something of the baseline away. */
const closed = new Set([
  "privileged",
  "cap_add",
  "cap_drop",
  "security_opt",
  "seccomp",
  "apparmor",
  "no_new_privileges",
  "network_mode",
  "pid_mode",
  "ipc_mode",
  "uts_mode",
  "userns_mode",
  "cgroup_parent",
  "docker_socket",
  "run_args",
]);

/** People who know an engine look for these; a word about why they are not there helps more than "not known". */
export function closedSetting(path: Path): Problem | undefined {
  const isAboutBoxes = path.length === 1 || path[0] === "runtime" || path[0] === "security";
  const key = String(path.at(-1));
  if (!isAboutBoxes || !closed.has(key.toLowerCase().replaceAll("-", "_"))) return undefined;
  return {
    code: "E072",
    path,
    at: "key",
    message: `There is no ${quote(key)}: the baseline of a box is never removed.`,
    hint: "Remove it; one device, capability or directory can be added under [security.exceptions.<name>], with a reason.",
  };
}
