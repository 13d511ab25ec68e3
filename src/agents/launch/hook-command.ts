import { boxPaths } from "../../contract/box-paths.ts";

/**
 * A shell command that appends what it reads to the hooks file, as one line. Hooks of one agent run at the same time
 * and a payload may be larger than one write, hence the lock. It says nothing and never fails: agents take the output
 * and the exit code of a hook for a decision.
 */
export const appendHook = `{ flock 9; tr -d '\\r\\n'; echo; } 9>>${boxPaths.hooksFile} >&9 2>/dev/null || :`;
