import { describe, expect, it } from "vitest";
import { message, readConversation } from "./conversation.ts";
import { postForJson } from "./plain-client.ts";
import { startScriptedModel } from "./scripted-model.ts";
import { answerSideCall } from "./side-calls.ts";

const plain = {
  api: "chat",
  model: "m",
  system: "",
  messages: [message("user", { text: "go" })],
  tools: [],
  stream: false,
} as const;
const bash = { name: "bash", kind: "function", schema: {} } as const;

describe("side calls", () => {
  it("are told from the work", () => {
    const answer = (parts: object) => answerSideCall(readConversation({ ...plain, ...parts }));
    expect(answer({ system: "Write a title." })).toEqual({ text: "Scripted work" });
    expect(answer({ responseSchema: { type: "object", properties: { title: { type: "string" } } } })).toEqual(
      {
        text: `{"title":"scripted"}`,
      },
    );
    expect(answer({ system: "You are an agent.", tools: [bash] })).toBeUndefined();
    expect(answer({})).toBeUndefined();
    expect(answer({ system: "Use SEARCH/REPLACE blocks." })).toBeUndefined();
  });

  it("reach the script if it wants them", async () => {
    const messages = [
      { role: "system", content: "Write a title." },
      { role: "user", content: "go" },
    ];
    const ask = async (answersSideCalls: boolean) => {
      await using model = await startScriptedModel({ script: [{ text: "mine" }], answersSideCalls });
      const body = await postForJson(`${model.url}/v1/chat/completions`, { model: "m", messages });
      return body["choices"];
    };
    expect(await ask(true)).toMatchObject([{ message: { content: "Scripted work" } }]);
    expect(await ask(false)).toMatchObject([{ message: { content: "mine" } }]);
  });
});
