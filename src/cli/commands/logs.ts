import { AgentBoxError } from "../../base/errors.ts";
import type { RunCommand } from "../command.ts";
import { showConversation } from "../boxes/show-conversation.ts";
import { showLog, showTerminalText } from "../terminal/show-log.ts";

/** The conversation of a box with an agent, and what a session has printed otherwise. */
export const run: RunCommand = async (context) => {
  const { args, screen, connect } = context;
  const client = await connect();
  const name = args.positionals[0]!;
  const source = args.text("source");
  const isFollowed = args.isSet("follow");
  const tail = args.integer("tail");
  const isRaw = args.isSet("raw") || source !== undefined;
  const { box } = await client.getBox(name);
  if (!isRaw && box.run) return showConversation(context, client, { box, tail, isFollowed });
  if (screen.isJson)
    throw new AgentBoxError("input.invalid", `The log of "${name}" is text, and has no JSON.`, {
      hint: `Show it: agentbox logs ${name}${source === undefined ? "" : ` --source ${source}`}`,
    });
  const chunks = await client.getLogs(name, { source: source ?? "main", tail, follow: isFollowed });
  if (!isRaw && !isFollowed && box.main?.terminal) await showTerminalText(screen, chunks, box.main);
  else await showLog(screen, chunks);
  return 0;
};
