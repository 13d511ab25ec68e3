import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { ReviewComment } from "../../contract/review/comment.ts";
import type { RunCommand } from "../command.ts";
import { renderTable } from "../render/table.ts";
import { watchRun } from "../boxes/watch-run.ts";

/** `comment BOX` lists, `comment BOX FILE:LINE TEXT` writes, `--send` sends all, `--resolve N` is done with one. */
export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const [box, where, ...words] = args.positionals;
  const client = await context.connect();
  const resolved = args.integer("resolve");
  if (resolved !== undefined) {
    const comment = await client.resolveComment(box!, resolved);
    if (screen.isJson) screen.printJson({ comment });
    else screen.print(`resolved #${comment.id}`);
    return 0;
  }
  if (where !== undefined) {
    const comment = await client.addComment(box!, { ...parseCommentTarget(where), text: words.join(" ") });
    if (screen.isJson) screen.printJson({ comment });
    else screen.print(`#${comment.id} on ${printable(where)}; send all with: agentbox comment ${box} --send`);
    if (!args.isSet("send")) return 0;
  }
  if (args.isSet("send")) {
    const { lastId } = await client.listEvents({ limit: 1, order: "newest" });
    const { box: sentTo, sent } = await client.sendComments(box!);
    if (!screen.isJson) screen.note(`Sent ${sent} to ${sentTo.name}.`);
    return sentTo.run?.mode === "headless" && !args.isSet("detach")
      ? watchRun(context, client, sentTo, lastId)
      : 0;
  }
  const comments = await client.listComments(box!);
  if (screen.isJson) screen.printJson({ comments });
  else screen.print(render(comments));
  return 0;
};

/** `src/a.ts:12`, or `src/a.ts` for the file as a whole. */
function parseCommentTarget(text: string): { path: string; line?: number } {
  const match = /^(.+?)(?::(\d{1,7}))?$/s.exec(text);
  const [, path, line] = match ?? [];
  if (path === undefined) {
    throw new AgentBoxError("input.invalid", `"${text}" names no file.`, { hint: "Write FILE:LINE." });
  }
  return { path, ...(line === undefined ? {} : { line: Number(line) }) };
}

const render = (comments: readonly ReviewComment[]): string =>
  comments.length === 0
    ? "No comments."
    : renderTable([
        ["", "WHERE", "STATE", "TEXT"],
        ...comments.map(({ id, path, line, state, text }) => [
          `#${id}`,
          `${printable(path)}${line === undefined ? "" : `:${line}`}`,
          state,
          printable(text).slice(0, 100),
        ]),
      ]);
