/**
 * A plugin of OpenCode, run by it in the box, that appends what matters to the hooks file, one line each. It chooses
 * and cuts there, because the events of one turn carry the whole conversation several times. It also sends the first
 * prompt when a conversation goes on: OpenCode's terminal drops `--prompt` then, without a word.
 */
import { maxEventText } from "../../contract/agent-events.ts";
import { boxPaths } from "../../contract/box-paths.ts";

/** For the conversation that goes on; without an id: the one that was used last. */
export interface FirstPrompt {
  readonly conversation: string | undefined;
  readonly text: string;
}

export const opencodePlugin = (
  prompt: FirstPrompt | undefined,
): string => `import { appendFileSync } from "node:fs";

const cut = (key, value) => (typeof value === "string" ? value.slice(0, ${maxEventText}) : value);

function choose({ type, properties }) {
  const { part, info } = properties ?? {};
  switch (type) {
    case "session.created":
    case "session.updated":
      return { id: info?.id, parent: info?.parentID };
    case "session.idle":
      return { id: properties.sessionID };
    case "session.status":
      return properties.status?.type === "busy" ? { id: properties.sessionID } : undefined;
    case "session.error":
      return { id: properties.sessionID, error: properties.error };
    case "permission.asked":
      return { id: properties.sessionID, permission: properties.permission, patterns: properties.patterns };
    case "message.updated":
      return info?.role === "assistant" && info.time?.completed
        ? { id: info.sessionID, model: info.modelID, tokens: info.tokens, message: info.id }
        : undefined;
    case "message.part.updated": {
      const state = part?.state;
      const isSettled = part?.type === "tool" ? state?.status !== "pending" : part?.time?.end !== undefined;
      if (!isSettled || !["tool", "text", "reasoning"].includes(part?.type)) return undefined;
      return { id: part.sessionID, part: { ...part, metadata: undefined, state: state && { ...state, metadata: { exists: state.metadata?.exists } } } };
    }
  }
}

const prompt = ${JSON.stringify(prompt ?? null)};

async function sendFirstPrompt(client) {
  const sessions = prompt.conversation ? [] : ((await client.session.list()).data ?? []);
  const latest = sessions.filter((one) => !one.parentID).sort((a, b) => b.time.updated - a.time.updated)[0];
  const id = prompt.conversation ?? latest?.id;
  if (id) await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text: prompt.text }] } });
}

export const AgentBox = async ({ client }) => {
  // It is loaded more than once, and must not wait for the server that waits for it.
  if (prompt && !globalThis.agentboxHasPrompted) {
    globalThis.agentboxHasPrompted = true;
    setTimeout(() => sendFirstPrompt(client).catch(() => {}), 500);
  }
  return {
  event: async ({ event }) => {
    try {
      const chosen = choose(event);
      if (chosen === undefined) return;
      appendFileSync(${JSON.stringify(boxPaths.hooksFile)}, JSON.stringify({ type: event.type, ...chosen }, cut) + "\\n");
    } catch {
      // A report that fails must not disturb the work.
    }
  },
  };
};
`;
