/**
 * The start of a queued task, as if the one who added it asked for its box now. SECURITY: judged anew, because who
 * added it may have left the team, may be no admin any more, or their token may have ended since; and never as more than
 * they were then.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { routeTable } from "../../contract/api/routes.ts";
import { CreateBox } from "../../contract/api/schemas.ts";
import type { Box } from "../../contract/box.ts";
import type { Adder, TaskRecord } from "../../ports/queue-records.ts";
import { requireAuthority } from "../access/authority.ts";
import { decideReach } from "../access/decide-reach.ts";
import type { Visibility } from "../access/visibility.ts";
import { createBox } from "../box/create-box.ts";
import { makerOf, requireProject } from "../team/members.ts";
import type { Using } from "../using.ts";

export async function startTask(
  core: Parameters<typeof createBox>[0] & Using<"access" | "host">,
  task: TaskRecord,
  variables: Readonly<Record<string, string>>,
): Promise<Box> {
  const access = accessOf(core, task.by);
  const request = CreateBox.parse({
    ...task.request,
    name: task.box,
    variables,
    run: { mode: "headless", task: task.task, timeoutMs: task.timeoutMs },
  });
  requireAuthority(core, access, "createBox", request);
  await requireProject(core, access, request);
  return (await createBox(core, request, makerOf(access))).box;
}

/** The one who added it, with the least of what they could do then and can do now. */
function accessOf(core: Using<"access">, by: Adder): Visibility {
  const caller = core.access.callerOf(by);
  const may = caller && decideReach(caller.principal, routeTable.createBox, undefined).allow;
  if (caller === undefined || !may) {
    core.access.refused("queue", { route: "createBox", who: by.holder.kind, id: by.token });
    throw new AgentBoxError("access.forbidden", "The one who added this task may not make boxes any more.", {
      hint: "Add it again as a person who may.",
    });
  }
  const access = core.access.visibilityOf(caller);
  return { ...access, mayOrder: access.mayOrder && by.mayOrder };
}
