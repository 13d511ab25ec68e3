import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { suggest } from "../../base/suggest.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { age, renderTable } from "../render/table.ts";
import { left } from "../render/time-left.ts";
import { say } from "../render/say.ts";

export const run: RunCommand = async (context) => {
  const [verb = "ls", id] = context.args.positionals;
  if (verb === "ls" && id === undefined) return list(context);
  if (verb === "end" && id !== undefined) {
    await (await context.connect()).endSignIn({ id });
    return say(context, { id }, `Ended the sign-in ${printable(id)}, and what it had open.`);
  }
  throw new AgentBoxError("command.unknown", `There is no "agentbox sign-ins ${verb}" like this.`, {
    hint: `Did you mean: agentbox sign-ins ${suggest(verb, ["ls", "end"]) ?? "ls"}`,
  });
};

async function list({ screen, connect }: CommandContext): Promise<number> {
  const signIns = await (await connect()).listSignIns();
  if (screen.isJson) screen.printJson({ signIns });
  else if (signIns.length === 0) screen.print("No browser is signed in. Open the dashboard: agentbox open");
  else {
    const nowMs = Date.now();
    const rows = signIns.map(({ id, name, usedAtMs, expiresAtMs, agent }) => [
      id,
      printable(name),
      `${age(usedAtMs, nowMs)} ago`,
      left(expiresAtMs, nowMs),
      printable(agent ?? ""),
    ]);
    screen.print(renderTable([["ID", "WHO", "USED", "ENDS", "BROWSER"], ...rows]));
  }
  return 0;
}
