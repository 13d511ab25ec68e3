/**
 * A lock on an open file that the kernel holds on our behalf: it is gone the moment the file is closed or the process
 * has ended, even after a crash, so there is no stale lock to judge and nothing to take over.
 */
import { spawn } from "node:child_process";
import type { FileHandle } from "node:fs/promises";

/**
 * False when another process has it and does not let go within `waitSeconds`. Node cannot call flock(2), but a lock
 * belongs to the open file and not to the process that asked for it: the child locks the file it inherited from us as
 * descriptor 3, ends, and we keep the lock. Programs that we start later do not inherit the descriptor.
 */
export function lockFile(file: FileHandle, waitSeconds = 0): Promise<boolean> {
  const patience = waitSeconds === 0 ? ["--nonblock"] : ["--timeout", String(waitSeconds)];
  return new Promise((resolve, reject) => {
    const child = spawn("flock", ["--exclusive", ...patience, "3"], {
      stdio: ["ignore", "ignore", "pipe", file.fd],
    });
    let stderr = "";
    child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(true);
      else if (code === 1 && stderr === "") resolve(false);
      else reject(new Error(stderr.trim() || `flock ended with ${code}`));
    });
  });
}
