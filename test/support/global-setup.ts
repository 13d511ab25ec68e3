import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopEngines } from "./stop-engines.ts";

/** One directory for what all test processes of a run share; they are ended without warning and could not remove it. */
export default function setup(): () => Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "abx-run-"));
  process.env["AGENTBOX_TEST_RUN"] = directory;
  return async () => {
    await stopEngines();
    rmSync(directory, { recursive: true, force: true });
  };
}
