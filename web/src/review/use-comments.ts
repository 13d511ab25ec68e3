import { useQuery } from "@tanstack/react-query";
import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import type { ReviewComment } from "../../../src/contract/review/comment.ts";
import { client } from "../api/client.ts";
import { useAction } from "../parts/use-action.ts";
import type { NewComment } from "./comments.tsx";

const none: readonly ReviewComment[] = [];

/** Comments on a box's work: written one by one, sent as one message. */
export function useComments(box: string, onSaved: () => void) {
  const key = ["review", box, "comments"];
  const { data = none } = useQuery({ queryKey: key, queryFn: () => client.listComments(box) });
  const options = { invalidates: [key] };
  const add = useAction(
    ({ path, line, text }: NewComment) => client.addComment(box, { path, text, ...omitUndefined({ line }) }),
    { ...options, onDone: onSaved },
  );
  const send = useAction(() => client.sendComments(box), {
    ...options,
    done: ({ sent }) => `Sent ${sent} ${sent === 1 ? "comment" : "comments"} to the agent as one message.`,
  });
  const resolve = useAction((comment: ReviewComment) => client.resolveComment(box, comment.id), options);
  return { comments: data, drafts: data.filter(({ state }) => state === "draft").length, add, send, resolve };
}
