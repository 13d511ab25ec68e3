import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One directory for what all test processes of a run share; they are ended without warning and could not remove it. */
export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), "abx-run-"));
  process.env["AGENTBOX_TEST_RUN"] = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
