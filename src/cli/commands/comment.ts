import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { ReviewComment } from "../../contract/review/comment.ts";
import type { RunCommand } from "../command.ts";
import { renderTable } from "../render/table.ts";
import { watchRun } from "../boxes/watch-run.ts";

/**
 * `comment BOX` lists, `comment BOX FILE:LINE TEXT` writes, `--edit N TEXT` and `--delete N` change a draft, `--send` sends
 * all, `--apply N` puts a suggestion into the work, `--resolve N` is done with one.
 */
export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const box = args.positionals[0]!;
  const client = await context.connect();
  const [resolved, edited, deleted] = [args.integer("resolve"), args.integer("edit"), args.integer("delete")];
  const suggestion = args.text("suggest");
  if (resolved !== undefined) {
    const comment = await client.resolveComment(box, resolved);
    if (screen.isJson) screen.printJson({ comment });
    else screen.print(`resolved #${comment.id}`);
    return 0;
  }
  const applied = args.integer("apply");
  if (applied !== undefined) {
    const { comment, undo } = await client.applySuggestion(box, applied);
    if (screen.isJson) screen.printJson({ comment, undo });
    else screen.print(`applied #${comment.id} to ${printable(comment.path)}`);
    screen.note(`Take it back with: agentbox checkpoints ${box} --restore ${undo}`);
    return 0;
  }
  if (deleted !== undefined) {
    await client.deleteComment(box, deleted);
    if (screen.isJson) screen.printJson({ deleted });
    else screen.print(`deleted #${deleted}`);
    return 0;
  }
  if (edited !== undefined) {
    const text = args.positionals.slice(1).join(" ");
    const comment = await client.editComment(box, edited, { text, ...omitUndefined({ suggestion }) });
    if (screen.isJson) screen.printJson({ comment });
    else screen.print(`changed #${comment.id}`);
    return 0;
  }
  const [, where, ...words] = args.isSet("list") ? [box] : args.positionals;
  if (where !== undefined) {
    const comment = await client.addComment(box, {
      ...parseCommentTarget(where),
      text: words.join(" "),
      ...omitUndefined({ suggestion }),
    });
    if (screen.isJson) screen.printJson({ comment });
    else screen.print(`#${comment.id} on ${printable(where)}; send all with: agentbox comment ${box} --send`);
    if (!args.isSet("send")) return 0;
  }
  if (args.isSet("send")) {
    const { lastId } = await client.listEvents({ limit: 1, order: "newest" });
    const { box: sentTo, sent } = await client.sendComments(box);
    if (!screen.isJson) screen.note(`Sent ${sent} to ${sentTo.name}.`);
    return sentTo.run?.mode === "headless" && !args.isSet("detach")
      ? watchRun(context, client, sentTo, lastId)
      : 0;
  }
  const comments = await client.listComments(box);
  if (screen.isJson) screen.printJson({ comments });
  else screen.print(render(comments));
  return 0;
};

/** `src/a.ts:12`, `src/a.ts:12-15`, or `src/a.ts` for the file as a whole. */
export function parseCommentTarget(text: string): { path: string; line?: number; endLine?: number } {
  const match = /^(.+?)(?::(\d{1,7})(?:-(\d{1,7}))?)?$/s.exec(text);
  const [, path, line, endLine] = match ?? [];
  if (path === undefined) {
    throw new AgentBoxError("input.invalid", `"${text}" names no file.`, {
      hint: "Write FILE:LINE or FILE:FIRST-LAST.",
    });
  }
  return {
    path,
    ...(line === undefined ? {} : { line: Number(line) }),
    ...(endLine === undefined ? {} : { endLine: Number(endLine) }),
  };
}

const render = (comments: readonly ReviewComment[]): string =>
  comments.length === 0
    ? "No comments."
    : renderTable([
        ["", "WHERE", "STATE", "TEXT"],
        ...comments.map(({ id, path, line, endLine, state, text, suggestion }) => [
          `#${id}`,
          `${printable(path)}${line === undefined ? "" : `:${line}`}${endLine === undefined ? "" : `-${endLine}`}`,
          state,
          `${printable(text).slice(0, 100)}${suggestion === undefined ? "" : " (with a suggestion)"}`.trim(),
        ]),
      ]);
