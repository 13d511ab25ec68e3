/** The steps before work lands: show it, have dangers accepted, run the checks. */
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import { DangerKind } from "../../contract/review/danger.ts";
import type { MergeConflict } from "../../contract/review/merge.ts";
import type { Review } from "../../contract/review/review.ts";
import { askYesNo } from "../render/ask.ts";
import type { CommandContext } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import { renderReview } from "../render/review.ts";
import type { Screen } from "../render/screen.ts";

/** The state that a person has seen and the dangers they accepted, as sent to the daemon. */
export interface Looked {
  accept: DangerKind[];
  /** Absent: the state that they were last shown, which the daemon remembers. */
  digest?: string;
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
  const review = await withProgress(screen, "Looking at the work", () => client.checkpointAndReview(box));
  const named = namedKinds(args);
  const seen = args.text("digest") ?? (args.isSet("unseen") ? review.digest : review.seen);
  const open = openKinds(review, named, args.text("mode") === "commits");
  const question = questionFor(review, { seen, open, verb });
  const isAsked = question !== undefined && screen.isInteractive && !screen.isJson;
  if (isAsked) {
    screen.note(renderReview(review, screen.errorStyle));
    if (!(await askYesNo(screen, `\n${question}`))) return undefined;
  }
  if (args.isSet("check") && review.requiredChecks.length > 0) {
    await withProgress(screen, "Running the checks in a fresh box", () => client.runChecks(box));
  }
  const digest = isAsked ? review.digest : seen;
  return {
    accept: isAsked ? [...named, ...open] : [...named],
    ...omitUndefined({ digest }),
    skipsChecks: args.isSet("skip-checks"),
  };
}

/** Undefined when there is nothing to ask: all was looked at and named, or it will be refused. */
function questionFor(
  review: Review,
  { seen, open, verb }: { seen: string | undefined; open: readonly DangerKind[]; verb: string },
): string | undefined {
  const isOutdated = seen !== undefined && seen !== review.digest;
  if (review.changes.length === 0 || isOutdated) return undefined;
  if (open.length > 0) return `Accept ${open.join(", ")} and ${verb}?`;
  return seen === undefined ? `You have not looked at the work yet. ${capitalised(verb)} it?` : undefined;
}

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Kinds of danger that are not named on the command line; those of single commits where they land as such. */
function openKinds(
  { dangers, history }: Review,
  named: readonly DangerKind[],
  isSingle: boolean,
): DangerKind[] {
  const all = isSingle ? [...dangers, ...history.flatMap((commit) => commit.dangers)] : dangers;
  return [...new Set(all.map(({ kind }) => kind))].filter((kind) => !named.includes(kind));
}

const namedKinds = (args: CommandContext["args"]): readonly DangerKind[] =>
  args.list("accept-danger").map((text) => {
    const kind = DangerKind.options.find((option) => option === text);
    if (kind) return kind;
    throw new AgentBoxError("input.invalid", `There is no danger of the kind "${text}".`, {
      hint: `Known: ${DangerKind.options.join(", ")}.`,
    });
  });

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
