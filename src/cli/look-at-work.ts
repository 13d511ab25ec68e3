/** What comes before work lands anywhere: it is looked at, dangers are accepted, checks are run. */
import { AgentBoxError, isAgentBoxError } from "../base/errors.ts";
import { printable } from "../base/printable.ts";
import type { Client } from "../client/index.ts";
import { DangerKind } from "../contract/review/danger.ts";
import type { MergeConflict } from "../contract/review/merge.ts";
import type { Review } from "../contract/review/review.ts";
import { askYesNo } from "./ask.ts";
import type { CommandContext } from "./command.ts";
import { withProgress } from "./render/progress.ts";
import { renderReview } from "./render/review.ts";
import type { Screen } from "./render/screen.ts";

/** What a person has seen and agreed to, as the daemon wants to know it. */
export interface Looked {
  accept: DangerKind[];
  digest: string;
  skipsChecks: boolean;
}

/** Undefined: they were asked, and said no. */
export async function lookAtWork(
  context: CommandContext,
  client: Client,
  box: string,
  verb: string,
): Promise<Looked | undefined> {
  const { args, screen } = context;
  const review = await withProgress(screen, "Looking at the work", () => client.getReview(box));
  const accept = await acceptedKinds(context, review, verb);
  if (accept === undefined) return undefined;
  if (args.isSet("check") && review.requiredChecks.length > 0) {
    await withProgress(screen, "Running the checks in a fresh box", () => client.runChecks(box));
  }
  return { accept: [...accept], digest: review.digest, skipsChecks: args.isSet("skip-checks") };
}

/** Kinds named on the command line; at a terminal the person is shown the rest and asked. Undefined: they said no. */
async function acceptedKinds(
  { args, screen }: CommandContext,
  review: Review,
  verb: string,
): Promise<readonly DangerKind[] | undefined> {
  const named = args.list("accept-danger").map((text) => {
    const kind = DangerKind.options.find((option) => option === text);
    if (kind) return kind;
    throw new AgentBoxError("input.invalid", `There is no danger of the kind "${text}".`, {
      hint: `Known: ${DangerKind.options.join(", ")}.`,
    });
  });
  const open = [...new Set(review.dangers.map(({ kind }) => kind))].filter((kind) => !named.includes(kind));
  if (open.length === 0 || !screen.isInteractive || screen.isJson) return named;
  screen.note(renderReview(review, screen.errorStyle));
  const isAgreed = await askYesNo(screen, `\nAccept ${open.join(", ")} and ${verb}?`);
  return isAgreed ? [...named, ...open] : undefined;
}

/** Both sides of a conflict, before the error itself. */
export async function showingConflicts<T>(screen: Screen, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    const conflicts = isAgentBoxError(error, "merge.conflict")
      ? (error.facts?.["conflicts"] as MergeConflict[])
      : [];
    if (!screen.isJson) {
      for (const { path, what } of conflicts ?? [])
        screen.note(
          `${screen.errorStyle.red("conflict")} ${screen.errorStyle.bold(printable(path))}: ${printable(what)}`,
        );
    }
    throw error;
  }
}
