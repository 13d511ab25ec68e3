/** Comments on a box's work: written one by one, sent as one message. */
import { useQuery } from "@tanstack/react-query";
import { omitUndefined } from "../../../../src/base/omit-undefined.ts";
import type { ReviewComment } from "../../../../src/contract/review/comment.ts";
import { client } from "../../api/client.ts";
import { useAction } from "../../parts/use-action.ts";
import { useToast } from "../../parts/toast.tsx";
import type { CommentText, NewComment } from "./comments.tsx";

const noComments: readonly ReviewComment[] = [];

const newOf = ({ path, line, endLine, text, suggestion }: NewComment) => ({
  path,
  text,
  ...omitUndefined({ line, endLine, suggestion }),
});

export function useComments(box: string, onSaved: () => void) {
  const key = ["review", box, "comments"];
  const { data = noComments } = useQuery({ queryKey: key, queryFn: () => client.listComments(box) });
  const options = { invalidates: [key] };
  const toast = useToast();
  const add = useAction((comment: NewComment) => client.addComment(box, newOf(comment)), {
    ...options,
    onDone: onSaved,
  });
  const again = useAction((comment: ReviewComment) => client.addComment(box, newOf(comment)), options);
  const send = useAction(() => client.sendComments(box), {
    ...options,
    done: ({ sent }) => `Sent ${sent} ${sent === 1 ? "comment" : "comments"} to the agent as one message.`,
  });
  const resolve = useAction((comment: ReviewComment) => client.resolveComment(box, comment.id), options);
  const restore = useAction((checkpoint: string) => client.restoreCheckpoint(box, { checkpoint }), {
    invalidates: [["review", box]],
    done: "Taken back.",
  });
  const apply = useAction((comment: ReviewComment) => client.applySuggestion(box, comment.id), {
    invalidates: [["review", box]],
    onDone: ({ undo }) =>
      toast("Suggestion applied.", "good", { label: "Undo", run: () => restore.run(undo) }),
  });
  const edit = useAction(
    ({ id, text, suggestion }: CommentText & { id: number }) =>
      client.editComment(box, id, { text, ...omitUndefined({ suggestion }) }),
    options,
  );
  const remove = useAction((comment: ReviewComment) => client.deleteComment(box, comment.id), {
    ...options,
    onDone: (_, comment) =>
      toast("Comment deleted.", "plain", { label: "Undo", run: () => again.run(comment) }),
  });
  const drafts = data.filter(({ state }) => state === "draft").length;
  return { comments: data, drafts, add, send, resolve, apply, edit, remove };
}
