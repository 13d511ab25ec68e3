import type { Client } from "../../client/index.ts";
import type { BoxEvent } from "../../contract/events.ts";
import type { Approval } from "../../contract/network/egress.ts";

export type QuestionChange =
  | { readonly kind: "asked"; readonly approval: Approval }
  | { readonly kind: "closed"; readonly id: number; readonly outcome: string };

export type QuestionSource = Pick<Client, "listApprovals" | "listEvents" | "followEvents">;

/** The open questions, then each one as it comes and goes; nothing is missed between the list and the log. */
export async function* followQuestions(
  client: QuestionSource,
  signal: AbortSignal,
): AsyncGenerator<QuestionChange> {
  const { lastId: after } = await client.listEvents({ limit: 1, order: "newest" });
  const seen = new Set<number>();
  const fresh = async (): Promise<QuestionChange[]> =>
    (await client.listApprovals())
      .filter(({ id }) => !seen.has(id))
      .map((approval) => {
        seen.add(approval.id);
        return { kind: "asked", approval };
      });
  yield* await fresh();
  for await (const event of client.followEvents({ after }, signal)) {
    // The list has the whole question, with its sentence and deadline; the event only says that there is one.
    if (event.type === "approval.asked") yield* await fresh();
    if (event.type === "approval.answered") yield* closed(event);
  }
}

function closed({ data }: BoxEvent): QuestionChange[] {
  const { approval: id, outcome } = data;
  return typeof id === "number" ? [{ kind: "closed", id, outcome: String(outcome) }] : [];
}
