/** Runs the manifest's checks on an agent's work: in a fresh box, never on the host and never in the agent's own. */
import { AgentBoxError } from "../../base/errors.ts";
import { printableLines } from "../../base/printable.ts";
import type { Box } from "../../contract/box.ts";
import type { CheckResult, CheckSpec } from "../../contract/review/check.ts";
import type { BoxLink } from "../../ports/link.ts";
import type { StartParts, Using } from "../using.ts";
import { execInBox } from "../exec/exec-in-box.ts";
import { eraseByName } from "../removal/erase-box.ts";
import { forkBox, freeName } from "./fresh-box.ts";
import { withLink } from "./quiet-box.ts";
import { checkpointAndCompare } from "./read-review.ts";

const keptOutput = 16_000;

export async function runChecks(
  core: Using<StartParts | "access" | "caches" | "getBox" | "ids" | "owners" | "workspaces">,
  name: string,
): Promise<readonly CheckResult[]> {
  const subject = await checkpointAndCompare(core, name, {});
  const { box, checkpoint } = subject;
  if (box.spec.checks.length === 0) {
    throw new AgentBoxError("review.nothing", `The manifest of "${name}" has no checks.`, {
      hint: 'Add one: [[check]] name = "test", command = "npm test"',
    });
  }
  if (!checkpoint) throw new AgentBoxError("review.nothing", `The box "${name}" has changed nothing.`);
  const fresh = await forkBox(core, subject, {
    name: await freeName(core, `${name.slice(0, 36)}-check`),
    keepsAgent: false,
  });
  try {
    return await withLink(core, fresh.name, async (_, link) => {
      const results: CheckResult[] = [];
      for (const check of box.spec.checks) {
        const result = { ...(await runCheck(core, link, check)), tree: checkpoint.tree };
        await keep(core, box, result);
        results.push(result);
      }
      return results;
    });
  } finally {
    await eraseByName(core, fresh.name, "finished");
  }
}

async function runCheck(
  core: Using<"clock">,
  link: BoxLink,
  { name, argv, timeoutMs }: CheckSpec,
): Promise<Omit<CheckResult, "tree">> {
  const startedMs = core.ports.clock.monotonicMs();
  const { code, timedOut, output } = await execInBox(link, { argv, timeoutMs });
  return {
    name,
    status: timedOut ? "timed_out" : code === 0 ? "passed" : code === null ? "error" : "failed",
    ...(code === null ? {} : { exitCode: code }),
    durationMs: Math.round(core.ports.clock.monotonicMs() - startedMs),
    atMs: core.ports.clock.nowMs(),
    output: printableLines(output).slice(-keptOutput),
  };
}

const keep = (core: Using<"commit" | "event">, box: Box, result: CheckResult): Promise<void> =>
  core.commit({
    review: [
      { kind: "check", key: result.name, value: { ...result, box: box.name, incarnation: box.incarnation } },
    ],
    events: [
      core.event("check.ended", box, {
        check: result.name,
        status: result.status,
        durationMs: result.durationMs,
      }),
    ],
  });
