// A container engine of the bench's own, as the tests start theirs: on a private socket and in a private directory,
// stopped when the row ends. Nothing is pulled: boxes and peers use what is on the host.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineUnavailable, startDocker } from "../../test/support/engines.ts";
import { hasProgram } from "../../test/support/host-facts.ts";
import { stopEngines } from "../../test/support/stop-engines.ts";
import type { Skipped } from "./bench.ts";

/** Where it listens. */
export type EngineSocket = string;

/** The body's results with an engine that nobody else uses, or why there can be none here. */
export async function withEngine<T>(
  name: string,
  body: (socket: EngineSocket) => Promise<readonly T[]>,
): Promise<readonly (T | Skipped)[]> {
  const missing = engineUnavailable("docker") ?? (hasProgram("docker") ? undefined : "not installed: docker");
  if (missing !== undefined) return [{ name, skipped: missing }];
  const run = mkdtempSync(join(tmpdir(), "abx-run-"));
  process.env["AGENTBOX_TEST_RUN"] = run;
  try {
    return await body((await startDocker()).socket);
  } finally {
    await stopEngines();
    delete process.env["AGENTBOX_TEST_RUN"];
    rmSync(run, { recursive: true, force: true });
  }
}
