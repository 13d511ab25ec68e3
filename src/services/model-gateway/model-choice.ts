/** Which model a request is sent for: aliases first, then the allow-list. */
import { AgentBoxError } from "../../base/errors.ts";
import type { ModelSpec } from "../../contract/model/api.ts";
import { isModelAllowed } from "../../contract/model/model-pattern.ts";
import { printable } from "../../base/printable.ts";

const longestName = 200;

export function chooseModel({ aliases, allow }: ModelSpec, asked: string): string {
  const model = Object.hasOwn(aliases, asked) ? (aliases[asked] ?? asked) : asked;
  if (model === "" || model.length > longestName) {
    throw new AgentBoxError("model.bad_request", "The name of the model is empty or too long.");
  }
  // SECURITY: some servers load what the name says from where it says.
  if (asked.includes("://")) {
    throw new AgentBoxError("model.bad_request", "The name of the model is an address.", {
      hint: "Name a model that the provider has.",
    });
  }
  if (!isModelAllowed(allow, model)) {
    throw new AgentBoxError("model.not_allowed", `This box may not use the model "${printable(model)}".`, {
      hint: `It may use: ${allow.join(", ")}.`,
    });
  }
  return model;
}
