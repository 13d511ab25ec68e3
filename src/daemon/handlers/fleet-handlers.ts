/** Handlers of the list of boxes and of what they use. */
import type { fleetRoutes } from "../../contract/api/routes/fleet.ts";
import type { Handlers } from "./handlers.ts";

export const fleetHandlers: Pick<Handlers, keyof typeof fleetRoutes> = {
  getResources: async ({ deps, params }) =>
    deps.core.resources.answer(await deps.core.getBox(params["box"]!)),
};
