/** The rules of access that the table of routes cannot express, because they depend on the content of the request. */
import { AgentBoxError } from "../../base/errors.ts";
import { includesRole } from "../../contract/access/principal.ts";
import type { Box } from "../../contract/box.ts";
import { requireParameter } from "../../core/access/authority.ts";
import type { Visibility } from "../../core/access/visibility.ts";
import { isAtLeast, tierOf } from "../../core/plan/choose-runtime.ts";
import { noSuchQuestion } from "../../core/network/approvals.ts";
import { noSuchBox } from "../../core/context.ts";
import type { Using } from "../../core/using.ts";

/** SECURITY: the number of a question is drawn by chance, but it is no credential; the box decides. */
export async function requireOwnQuestion(
  core: Using<"approvals">,
  access: Visibility,
  id: number,
): Promise<void> {
  if (access.isOfHost) return;
  const question = core.approvals.find(id);
  if (question === undefined || (await access.roleOn(question.box)) !== "own") throw noSuchQuestion(id);
}

/** SECURITY: a project's boxes may be other people's, so its rules are for those who see all of them. */
export function requireBoxOnly(access: Visibility, scope: string): void {
  if (access.isOfHost || scope !== "project") return;
  throw new AgentBoxError("access.forbidden", "Only the owner of this host decides for a whole project.", {
    hint: "Decide for this box.",
  });
}

/** SECURITY: a second box that a request names, beside the one in its path. */
export async function requireSeen(access: Visibility, box: string | undefined): Promise<void> {
  if (box !== undefined && !access.isOfHost && !(await access.sees(box))) throw noSuchBox(box);
}

/** Whether the caller may work in this box, and not only look at it. */
export const mayWorkIn = (access: Visibility, { name, incarnation }: Box): boolean =>
  access.scopes.includes("work") && includesRole(access.roleOnLife({ box: name, incarnation }), "work");

/**
 * Merges land in a project of the host; the owner of a box may take its merges back. SECURITY: of this box, and not of
 * an earlier one of the same name that belonged to another person: the life of the box that is meant is returned, where
 * only one is.
 */
export async function requireOwnMerge(
  core: Using<"store">,
  access: Visibility,
  name: string | undefined,
): Promise<string | undefined> {
  if (access.isOfHost) return undefined;
  const box = name === undefined ? undefined : await core.ports.store.findBox(name);
  const role = box && access.roleOnLife({ box: box.name, incarnation: box.incarnation });
  if (name !== undefined && role === undefined) throw noSuchBox(name);
  const merges =
    box && role === "own" ? await core.ports.store.listReview("merge", { incarnation: box.incarnation }) : [];
  if (merges.some(({ isUndone }) => !isUndone)) return box?.incarnation;
  throw new AgentBoxError("access.forbidden", "There is no merge of yours to undo here.");
}

/** SECURITY: what the owner put behind a stronger wall stays there. */
export async function requireAsIsolated(
  core: Using<"access" | "getBox" | "runtimes">,
  access: Visibility,
  name: string,
  runtime: string,
): Promise<void> {
  if (access.mayOrder) return;
  const { isolation } = await core.getBox(name);
  const to = tierOf(await core.ports.runtimes.get(runtime));
  if (!isAtLeast(to, isolation.tier)) requireParameter(core, access, "moveBox", "runtime");
}
