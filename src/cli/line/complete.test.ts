import { describe, expect, it } from "vitest";
import { agents } from "../../agents/index.ts";
import type { CompletionKind } from "../command.ts";
import { commands } from "../table/index.ts";
import { withAgentFlags } from "./agent-flags.ts";
import { complete } from "./complete.ts";

const catalogue = async () => ({ agents, runtimeNames: [], loadPresetNames: async () => [] });
const there: Partial<Record<CompletionKind, readonly string[]>> = {
  agent: ["claude", "codex", "shell"],
  box: ["api", "shop", "shop-docs"],
  checkpoint: ["1", "before"],
  secret: ["github", "npm"],
  filter: ["state=", "agent="],
};
const asked: string[] = [];
async function words(line: string): Promise<readonly string[] | "files"> {
  const found = await complete(line.split(" "), {
    commands,
    listNames: async (kind, box) => {
      asked.push(`${kind} of ${box}`);
      return there[kind] ?? [];
    },
    withAgentFlags: (command, argv) => withAgentFlags(command, [...argv, "--help"], catalogue),
  });
  return found === "files" ? found : found.map(({ word }) => word);
}

describe("completion", () => {
  it.each([
    ["ru", ["run", "run-locally"]],
    ["stop sh", ["shop", "shop-docs"]],
    ["stop api ", ["api", "shop", "shop-docs"]],
    ["attach api ", []],
    ["run c", ["claude", "codex"]],
    ["create --name x s", ["shell"]],
    ["run --network ", ["deny", "ask"]],
    ["run --network=a", ["--network=ask"]],
    ["wait shop --for s", ["stopped"]],
    ["budget raise sh", ["shop", "shop-docs"]],
    ["policy show --box a", ["api"]],
    ["vault rotate n", ["npm"]],
    ["vault se", ["set"]],
    ["checkpoints shop --restore b", ["before"]],
    ["checkpoints shop ", ["1", "before"]],
    ["ls --filter st", ["state="]],
    ["ls --filter=st", ["--filter=state="]],
    ["ls --wat", ["--watch"]],
    ["cp ", "files"],
    ["validate agent", "files"],
    ["exec shop -- git ", "files"],
    ["run --task ", []],
    ["nothing ", "files"],
  ])("%j", async (line, wanted) => {
    expect(await words(line)).toEqual(wanted);
  });

  it("knows every command and the options of the agent on the line", async () => {
    expect(await words("")).toEqual(commands.map(({ name }) => name));
    expect(await words("run --max-t")).toEqual([]);
    expect(await words("run claude --max-t")).toEqual(["--max-turns"]);
    expect(await words("run claude -o max_t")).toEqual(["max_turns="]);
  });

  it("asks for the checkpoints of the box that is named", async () => {
    asked.length = 0;
    await words("checkpoints --take shop --restore ");
    expect(asked).toEqual(["checkpoint of shop"]);
  });
});
