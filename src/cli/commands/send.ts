import type { RunCommand } from "../command.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { watchRun } from "../boxes/watch-run.ts";

/** Says something to the agent of a box; when it had ended, that is its next task, and it is watched to its end. */
export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const [name, ...words] = args.positionals;
  const text = [...words, ...(args.rest ?? [])].join(" ");
  if (text.trim() === "") {
    throw new AgentBoxError("input.invalid", "There is nothing to send.", {
      hint: `Write: agentbox send ${name} "what to do next"`,
    });
  }
  const client = await context.connect();
  const { lastId } = await client.listEvents({ limit: 1, order: "newest" });
  const { box } = await client.sendMessage(name!, { text });
  if (box.run?.mode === "headless" && !args.isSet("detach")) return watchRun(context, client, box, lastId);
  if (screen.isJson) screen.printJson({ box });
  else screen.note(`Sent to ${box.name}.`);
  return 0;
};
