/** Handlers of the list of boxes and of what they use. */
import type { RouteName } from "../contract/api/routes.ts";
import type { Handlers } from "./handlers.ts";

type FleetRoute = Extract<RouteName, "getResources">;

export const fleetHandlers: Pick<Handlers, FleetRoute> = {
  getResources: async ({ deps, params }) =>
    deps.core.resources.answer(await deps.core.getBox(params["box"]!)),
};
