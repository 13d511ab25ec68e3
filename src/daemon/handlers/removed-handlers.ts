/** Handlers about removing boxes, and bringing them back. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { removedRoutes } from "../../contract/api/routes/removed.ts";
import { pruneBoxes } from "../../core/removal/prune-boxes.ts";
import { readUnmerged, removeBox } from "../../core/removal/remove-box.ts";
import { findRemoved, forgetRemoved, listOwnRemoved, removedInfo } from "../../core/removal/removed-boxes.ts";
import { restoreRemoved } from "../../core/removal/restore-removed.ts";
import { requireProject } from "../../core/team/members.ts";
import type { Handlers } from "./handlers.ts";

export const removedHandlers: Pick<Handlers, keyof typeof removedRoutes | "removeBox" | "prune"> = {
  async removeBox({ deps, params, query }) {
    const removed = await removeBox(deps.core, params["box"]!, query);
    return omitUndefined({ removed });
  },
  prune: ({ deps, body }) => pruneBoxes(deps.core, body),
  readUnmerged: ({ deps, params }) => readUnmerged(deps.core, params["box"]!),
  listRemoved: async ({ deps, access }) => ({
    removed: (await listOwnRemoved(deps.core, access)).map(removedInfo),
  }),
  async restoreRemoved({ deps: { core }, params, body, access }) {
    const removed = await findRemoved(core, access, params["removed"]!);
    await requireProject(core, access, removed.record);
    return { box: await restoreRemoved(core, removed, body) };
  },
  async forgetRemoved({ deps, params, access }) {
    await forgetRemoved(deps.core, await findRemoved(deps.core, access, params["removed"]!), "requested");
    return {};
  },
};
