import { z } from "zod";
import { autonomyLevels } from "../../contract/agent.ts";
import { PathText, Text, Version, Word } from "./scalars.ts";

const maxInstructions = 32_768;

export const AgentSection = z
  .strictObject({
    name: Word.optional().describe("The agent to run, by its name in the catalogue."),
    version: Version.optional().describe(
      "The version to run, exactly. Without it: the one in agentbox.lock, of the project or of this host.",
    ),
    autonomy: z
      .enum(autonomyLevels)
      .optional()
      .describe("What the agent may do in the box without asking: nothing, edit files, or everything."),
    args: z
      .array(Text)
      .max(10_000)
      .optional()
      .describe("Arguments the agent is started with, passed on as they are."),
    options: z
      .record(
        Word,
        z
          .union([z.string().max(4_096), z.number(), z.boolean()])
          .describe("An option of the agent itself: a text, a number or a switch."),
      )
      .optional()
      .describe("Options of the agent itself; see docs/agents.md."),
    instructions: z
      .string()
      .max(maxInstructions)
      .optional()
      .describe("Text that the agent reads as its standing instructions."),
    skills: PathText.optional().describe(
      "Directory of skills, each a directory with a SKILL.md. A directory outside the project asks for trust.",
    ),
  })
  .describe("Which agent works in the box.");
export type AgentSection = z.infer<typeof AgentSection>;
