/** Handlers about an agent's work: checkpoints, review, comments, checks, merge. */
import type { reviewRoutes } from "../../contract/api/routes/review.ts";
import { applySuggestion } from "../../core/review/apply-suggestion.ts";
import { makerOf } from "../../core/team/members.ts";
import {
  addComment,
  commentsOf,
  deleteComment,
  editComment,
  resolveComment,
  sendComments,
} from "../../core/review/comment-on-work.ts";
import { forkBox, freeName } from "../../core/review/fresh-box.ts";
import { dangerLooksOf, noteDangerLook } from "../../core/review/danger-looks.ts";
import { findLook, keepLook, lookerOf } from "../../core/review/last-look.ts";
import { discardWork, exportWork, mergeWork, undoMerge } from "../../core/review/merge-work.ts";
import { pushWork } from "../../core/review/push-work.ts";
import type { Visibility } from "../../core/access/visibility.ts";
import {
  type ReviewQuery,
  type Taking,
  checkpointAndCompare,
  listCheckpoints,
  openSubject,
  readReview,
} from "../../core/review/read-review.ts";
import type { ReviewParts, Using } from "../../core/using.ts";
import { rebaseWork } from "../../core/review/rebase-work.ts";
import { restoreCheckpoint } from "../../core/review/restore-checkpoint.ts";
import { ignoreDirectory } from "../../core/review/ignore-directory.ts";
import { runChecks } from "../../core/review/run-checks.ts";
import { takeCheckpoint } from "../../core/review/take-checkpoint.ts";
import type { Handlers } from "./handlers.ts";
import { requireOwnMerge, requireSeen } from "./require-access.ts";

const maybe = <K extends string, T>(key: K, value: T | undefined): { [P in K]?: T } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: T };

async function reviewFor(
  core: Using<ReviewParts>,
  access: Visibility,
  name: string,
  query: ReviewQuery,
  taking: Taking,
) {
  await requireSeen(access, query.against);
  const review = await readReview(core, name, query, taking);
  const [box, who] = [await core.getBox(review.box), lookerOf(access.principal)];
  const seen = await findLook(core, box, who);
  return { ...review, looks: await dangerLooksOf(core, box, who, review), ...maybe("seen", seen?.digest) };
}

export const reviewHandlers: Pick<Handlers, keyof typeof reviewRoutes> = {
  listCheckpoints: async ({ deps, params }) => ({
    checkpoints: [...(await listCheckpoints(deps.core, params["box"]!))],
  }),
  takeCheckpoint: async ({ deps, params, body }) =>
    maybe(
      "checkpoint",
      await takeCheckpoint(deps.core, params["box"]!, { reason: "manual", name: body.name }),
    ),
  restoreCheckpoint: async ({ deps, params, body }) =>
    maybe("checkpoint", await restoreCheckpoint(deps.core, params["box"]!, body.checkpoint)),
  async forkBox({ deps, params, body, access }) {
    const source = params["box"]!;
    const subject = await checkpointAndCompare(
      deps.core,
      source,
      body.checkpoint === undefined ? {} : { to: body.checkpoint },
    );
    const name = body.name ?? (await freeName(deps.core, `${source}-fork`));
    return { box: await forkBox(deps.core, subject, { name, keepsAgent: true, maker: makerOf(access) }) };
  },
  getReview: ({ deps, params, query, access }) =>
    reviewFor(deps.core, access, params["box"]!, query, { takes: false }),
  async checkpointAndReview({ deps, params, body, access }) {
    // SECURITY: who may only look at the other box does not start it either.
    const role = body.against === undefined ? undefined : await access.roleOn(body.against);
    const takesOther = role === "work" || role === "own";
    return reviewFor(deps.core, access, params["box"]!, body, { takes: true, takesOther });
  },
  noteLook: async ({ deps, params, body, access }) => ({
    isKept: await keepLook(deps.core, params["box"]!, lookerOf(access.principal), body),
  }),
  async noteDangerLook({ deps, params, body, access }) {
    await noteDangerLook(deps.core, params["box"]!, lookerOf(access.principal), body);
    return {};
  },
  async getPatch({ deps, params, query, response, access }) {
    await requireSeen(access, query.against);
    await using subject = await openSubject(deps.core, params["box"]!, query, { takes: false });
    const { repository, from, to } = subject;
    const patch = repository.patch(from, to, {
      contextLines: query.context,
      ...(query.path === undefined
        ? {}
        : { paths: [query.path, ...(query.oldPath === undefined ? [] : [query.oldPath])] }),
    });
    response.writeHead(200, { "content-type": "text/x-diff; charset=utf-8" });
    for await (const chunk of patch) {
      if (!response.write(chunk))
        await new Promise<void>((resolve) => void response.once("drain", resolve).once("close", resolve));
      if (response.destroyed) return;
    }
    response.end();
  },
  listComments: async ({ deps, params }) => ({
    comments: [...(await commentsOf(deps.core, await deps.core.getBox(params["box"]!)))],
  }),
  addComment: async ({ deps, params, body }) => ({
    comment: await addComment(deps.core, params["box"]!, body),
  }),
  sendComments: ({ deps, params }) => sendComments(deps.core, params["box"]!),
  editComment: async ({ deps, params, body }) => ({
    comment: await editComment(deps.core, params["box"]!, Number(params["comment"]), body),
  }),
  async deleteComment({ deps, params }) {
    await deleteComment(deps.core, params["box"]!, Number(params["comment"]));
    return {};
  },
  resolveComment: async ({ deps, params }) => ({
    comment: await resolveComment(deps.core, params["box"]!, Number(params["comment"])),
  }),
  async ignoreDirectory({ deps, params, body, access }) {
    await ignoreDirectory(deps.core, params["box"]!, { ...body, who: lookerOf(access.principal) });
    return {};
  },
  applySuggestion: ({ deps, params, access }) =>
    applySuggestion(deps.core, params["box"]!, Number(params["comment"]), { by: lookerOf(access.principal) }),
  runChecks: async ({ deps, params }) => ({ checks: [...(await runChecks(deps.core, params["box"]!))] }),
  mergeWork: async ({ deps, params, body, access }) => ({
    merge: await mergeWork(deps.core, params["box"]!, { ...body, who: lookerOf(access.principal) }),
  }),
  pushWork: async ({ deps, params, body, access }) => ({
    push: await pushWork(deps.core, params["box"]!, { ...body, who: lookerOf(access.principal) }),
  }),
  rebaseWork: ({ deps, params }) => rebaseWork(deps.core, params["box"]!),
  async undoMerge({ deps, body: { box, projectDir }, access }) {
    const incarnation = await requireOwnMerge(deps.core, access, box);
    const which = {
      ...maybe("box", box),
      ...maybe("incarnation", incarnation),
      ...maybe("projectDir", projectDir),
    };
    return { merge: await undoMerge(deps.core, which) };
  },
  async discardWork({ deps, params }) {
    return maybe("removed", await discardWork(deps.core, params["box"]!));
  },
  async exportWork({ deps, params, body }) {
    await exportWork(deps.core, params["box"]!, body.format, body.file);
    return {};
  },
};
