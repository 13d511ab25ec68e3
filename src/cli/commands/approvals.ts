import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { suggest } from "../../base/suggest.ts";
import type { ApprovalAnswer } from "../../contract/network/egress.ts";
import { printApprovals, watchApprovals } from "../approvals/watch.ts";
import { answerText, renderApproval, renderMissed } from "../approvals/render.ts";
import type { CommandContext, RunCommand } from "../command.ts";

const verbs = ["ls", "allow", "deny"] as const;

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const [verb = "ls", id, ...more] = args.positionals;
  if (verb === "allow" || verb === "deny") return answer(context, verb, id);
  if (verb !== "ls" || id !== undefined || more.length > 0) {
    throw new AgentBoxError(
      "command.unknown",
      `There is no "agentbox approvals ${args.positionals.join(" ")}".`,
      {
        hint: `Did you mean: agentbox approvals ${suggest(verb, verbs) ?? "ls"}`,
      },
    );
  }
  if (!args.isSet("watch")) return list(context);
  const client = await context.connect();
  if (!screen.isInteractive || screen.isJson) return printApprovals(client, screen);
  return watchApprovals(client, screen, { ttlMs: args.durationMs("for") });
};

async function list({ screen, connect }: CommandContext): Promise<number> {
  const client = await connect();
  const approvals = await client.listApprovals();
  const missed = await client.listMissedApprovals();
  if (screen.isJson) {
    screen.printJson({ approvals, missed });
    return 0;
  }
  if (approvals.length === 0) screen.print("Nothing waits for an answer.");
  else {
    const shown = approvals.map((approval) => renderApproval(approval, Date.now(), screen.style));
    screen.print(shown.join("\n\n"));
    screen.print("\nAnswer with: agentbox approvals allow ID, or agentbox approvals --watch");
  }
  if (missed.length > 0) screen.print(`\n${renderMissed(missed, Date.now(), screen.style)}`);
  return 0;
}

async function answer(
  context: CommandContext,
  verdict: "allow" | "deny",
  text: string | undefined,
): Promise<number> {
  const { screen } = context;
  if (text === undefined || !/^\d{1,15}$/.test(text)) {
    throw new AgentBoxError("input.invalid", "Which question?", {
      hint: `List the open ones with: agentbox approvals. Then: agentbox approvals ${verdict} ID`,
    });
  }
  const id = Number(text);
  const choice = choiceOf(context, verdict);
  const client = await context.connect();
  const open = (await client.listApprovals()).find((one) => one.id === id);
  const missed = open ? undefined : (await client.listMissedApprovals()).find((one) => one.id === id);
  const approval = open ?? missed;
  await client.answerApproval(id, { ...choice, ...omitUndefined({ digest: missed?.digest }) });
  if (screen.isJson) screen.printJson({ id, ...choice });
  else screen.print(answerText(approval, choice, Date.now(), screen.style));
  return 0;
}

function choiceOf({ args }: CommandContext, verdict: "allow" | "deny"): ApprovalAnswer {
  const scope = (args.text("scope") ?? "once") as ApprovalAnswer["scope"];
  const ttlMs = args.durationMs("for");
  if (verdict === "deny" && (args.isSet("scope") || ttlMs !== undefined)) {
    throw new AgentBoxError("input.invalid", "A no is for this question only.", {
      hint: 'To deny a host for good, write a rule with mode = "deny".',
    });
  }
  if (ttlMs !== undefined && scope === "once") {
    throw new AgentBoxError("input.invalid", "--for works only for a box or a project.", {
      hint: "Add --scope box or --scope project.",
    });
  }
  return { answer: verdict, scope, ...omitUndefined({ ttlMs }) };
}
