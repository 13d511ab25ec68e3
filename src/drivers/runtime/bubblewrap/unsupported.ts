/** Options of a box that this runtime cannot give are refused, never quietly left out. */
import { AgentBoxError } from "../../../base/errors.ts";
import { describeException, needsEngine } from "../../../contract/exception-words.ts";
import type { RuntimeBox } from "../../../ports/runtime.ts";

export function refuseUnsupported({
  image,
  exceptions = [],
}: Pick<RuntimeBox, "image" | "exceptions">): void {
  const exception = exceptions.find(needsEngine);
  if (exception === undefined && image === undefined) return;
  const gap =
    exception === undefined
      ? `make a box from the image ${image}`
      : `let a box ${describeException(exception)}`;
  throw new AgentBoxError("runtime.unsupported", `The runtime "bubblewrap" cannot ${gap}.`, {
    hint: "Use a container runtime: --runtime docker",
  });
}
