import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { AuditReport } from "../../contract/api/schemas/vault.ts";
import type { CommandContext, RunCommand } from "../command.ts";

export const run: RunCommand = async (context) => {
  const [verb = ""] = context.args.positionals;
  if (verb === "verify") return verify(context);
  if (verb === "head") return head(context);
  throw new AgentBoxError("command.unknown", `There is no "agentbox audit ${printable(verb)}".`, {
    hint: "Use one of: agentbox audit verify, agentbox audit head",
  });
};

async function verify({ args, screen, connect }: CommandContext): Promise<number> {
  const report = await (await connect()).verifyAudit({ head: args.text("head")?.trim() });
  requireWhole(report);
  if (screen.isJson) screen.printJson({ ...report, mark: markOf(report) });
  else screen.print(`All ${report.events} events are what was written. Head: ${markOf(report)}`);
  return 0;
}

/** Nothing but the mark, so that it can be kept in a file. */
async function head({ screen, connect }: CommandContext): Promise<number> {
  const report = await (await connect()).verifyAudit();
  requireWhole(report);
  if (screen.isJson) screen.printJson({ head: markOf(report) });
  else screen.print(markOf(report));
  return 0;
}

const markOf = ({ events, head }: AuditReport): string => `${events}:${head}`;

function requireWhole(report: AuditReport): void {
  if (report.isWhole) return;
  const at = report.brokenAt ?? report.events + 1;
  throw new AgentBoxError(
    "audit.broken",
    `The event log is not what was written: event ${at} was changed or taken away.`,
    {
      hint: `Trust nothing from event ${at} on; look at it with: agentbox events --after ${Math.max(0, at - 2)}`,
      facts: { ...report },
    },
  );
}
