/** The core's side of the model gateway: budgets decide, the watch learns, the log keeps refusals. */
import { printable } from "../../base/printable.ts";
import type { ModelListener } from "../../ports/model-gateway.ts";
import type { Using } from "../using.ts";

export function modelListener(
  core: Using<"agentWatch" | "background" | "budgets" | "noteFromBox" | "store">,
): ModelListener {
  return {
    async admit(request, signal) {
      const { name } = request.box;
      const admission = await core.budgets.admit(request, signal);
      if (admission.outcome === "admitted") core.agentWatch.requestStarted(name);
      else core.agentWatch.requestRefused(name, admission.message, admission.code === "budget.exhausted");
      return admission;
    },
    settle(ticket, request, outcome) {
      core.budgets.settle(ticket, request, outcome);
      core.agentWatch.requestEnded(request.box.name, outcome);
    },
    progressed: ({ name }) => core.agentWatch.progressed(name),
    refused({ name, incarnation }, code, message) {
      core.agentWatch.requestRefused(name, `${code}: ${message}`, false);
      core.background(
        "noting a refused request",
        core.ports.store.findBox(name).then((box) => {
          if (box?.incarnation === incarnation)
            core.noteFromBox("model.refused", box, { code, message: printable(message) });
        }),
      );
    },
  };
}
