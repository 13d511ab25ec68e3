import { AgentBoxError } from "../../base/errors.ts";
import { askYesNo } from "../render/ask.ts";
import type { RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const name = args.positionals[0]!;
  const runtime = args.text("runtime");
  if (runtime === undefined) {
    throw new AgentBoxError("input.invalid", "Which runtime?", {
      hint: `Name the runtime: agentbox move ${name} --runtime docker`,
    });
  }
  const client = await connect();
  const { box: before } = await client.getBox(name);
  const isUp = before.state.phase === "running" || before.state.phase === "paused";
  if (isUp && before.spec.runtime !== runtime && !args.isSet("yes")) {
    if (!screen.isInteractive) {
      throw new AgentBoxError(
        "input.invalid",
        `"${name}" is running; stopping it needs a yes, and there is no terminal to ask at.`,
        {
          hint: "It is stopped for the move and started again. Add --yes.",
        },
      );
    }
    const question = `"${name}" is running. Stop it, move it to ${runtime} and start it again?`;
    if (!(await askYesNo(screen, question))) return 0;
  }
  const { box } = await withProgress(screen, `Moving ${name}`, () => client.moveBox(name, { runtime }));
  if (screen.isJson) screen.printJson({ box });
  else screen.print(`moved ${name} from ${before.spec.runtime} to ${runtime} (${box.isolation.tier})`);
  return 0;
};
