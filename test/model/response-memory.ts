// The Responses API lets a client send only what is new and name the response it continues. Codex does so on a
// WebSocket. This keeps what such a client may refer to, and completes its requests.
import { type JsonObject, asText } from "./json.ts";
import { inputItems, outputItems } from "./responses.ts";
import type { Answer } from "./step.ts";

export class ResponseMemory {
  readonly #items = new Map<string, readonly JsonObject[]>();

  complete(body: JsonObject): JsonObject {
    const earlier = this.#items.get(asText(body["previous_response_id"])) ?? [];
    return { ...body, input: [...earlier, ...inputItems(body["input"])] };
  }

  remember(body: JsonObject, answer: Answer): void {
    this.#items.set(`resp_${answer.id}`, [...inputItems(body["input"]), ...outputItems(answer)]);
  }
}
