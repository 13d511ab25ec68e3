/** Answers that take long and say how far they are: one JSON document a line, the last of them the result or an error. */
import type { ServerResponse } from "node:http";
import { type AgentBoxError, toAgentBoxError } from "../../base/errors.ts";
import type { Using } from "../../core/using.ts";

interface StepTask<Done> {
  readonly core: Using<"report">;
  readonly response: ServerResponse;
  /** For the log. */
  readonly what: string;
  run(how: { onProgress: (message: string) => void; signal: AbortSignal }): Promise<Done>;
}

type Step<Done> =
  | { readonly type: "progress"; readonly message: string }
  | ({ readonly type: "done" } & Done)
  | { readonly type: "error"; readonly error: ReturnType<AgentBoxError["toBody"]> };

/** Who goes away before the end has changed their mind: the work is given up. */
export async function streamSteps<Done extends object>(task: StepTask<Done>): Promise<void> {
  const { core, response, what } = task;
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  response.flushHeaders();
  const send = (step: Step<Done>): void => {
    if (!response.writableEnded && !gone.signal.aborted) response.write(`${JSON.stringify(step)}\n`);
  };
  try {
    const onProgress = (message: string): void => send({ type: "progress", message });
    send({ type: "done", ...(await task.run({ onProgress, signal: gone.signal })) });
  } catch (error) {
    const known = toAgentBoxError(error);
    if (known.code === "internal.unexpected") core.ports.report({ error: String(error) }, `${what} failed`);
    send({ type: "error", error: known.toBody() });
  }
  response.end();
}
