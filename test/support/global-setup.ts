import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopEngines } from "./stop-engines.ts";

/**
 * An engine with mounts of its own sees what a daemon mounts later only below a shared mount. With systemd all of the
 * system is one; where it is not, the directory of the daemon's owner maps becomes one, before anything lies in it.
 */
const shareOwnerMaps = `
mkdir -p /run/agentbox
case $(findmnt -no PROPAGATION -T /run/agentbox) in
  *shared*) ;;
  *) mount --bind /run/agentbox /run/agentbox && mount --make-shared /run/agentbox ;;
esac`;

function shareMounts(): void {
  if (process.getuid?.() !== 0) return;
  try {
    execFileSync("flock", ["/run/lock", "sh", "-c", shareOwnerMaps], { stdio: "ignore" });
  } catch {
    // Where nothing may be mounted, there is no engine with mounts of its own either.
  }
}

/** One directory for what all test processes of a run share; they are ended without warning and could not remove it. */
export default function setup(): () => Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "abx-run-"));
  process.env["AGENTBOX_TEST_RUN"] = directory;
  shareMounts();
  return async () => {
    await stopEngines();
    rmSync(directory, { recursive: true, force: true });
  };
}
