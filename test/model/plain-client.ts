// A client without manners of its own, for the tests of the server.
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import { type JsonObject, asObject } from "./json.ts";

export interface SentEvent {
  readonly event: string | undefined;
  readonly data: JsonObject | "[DONE]";
}

export const post = (url: string, body: JsonObject, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...omitUndefined({ signal }),
  });

export const postForJson = async (url: string, body: JsonObject): Promise<JsonObject> =>
  asObject(await (await post(url, body)).json());

/** All events of a stream; throws when the stream breaks or holds something that is no JSON. */
export async function postForEvents(url: string, body: JsonObject): Promise<SentEvent[]> {
  const response = await post(url, body);
  const blocks = (await response.text()).split("\n\n").filter(Boolean);
  return blocks.map((block) => {
    const field = (name: string) =>
      block
        .split("\n")
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const data = field("data") ?? "";
    return {
      event: field("event"),
      data: data === "[DONE]" ? data : (JSON.parse(data) as JsonObject),
    };
  });
}

export const dataOf = (events: readonly SentEvent[]): JsonObject[] =>
  events.map(({ data }) => asObject(data));
