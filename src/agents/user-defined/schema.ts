import { toJSONSchema, z } from "zod";
import { ModelApi } from "../../contract/model/api.ts";

/** Named, because control characters are refused in files that people read. */
export const keyNames = {
  enter: "\r",
  escape: "\u001b",
  "ctrl-c": "\u0003",
  "ctrl-d": "\u0004",
  "ctrl-j": "\n",
} as const;
type KeyName = keyof typeof keyNames;
const Key = z.enum(Object.keys(keyNames) as [KeyName, ...KeyName[]]);

const Word = z.string().min(1).max(128);
const Line = z.string().min(1).max(500);
const Argument = z.string().min(1).max(4_096);
const Arguments = z.array(Argument).max(64);
const Command = z.array(z.union([Argument, z.array(Argument).min(1).max(16)])).max(64);

const Option = z.strictObject({
  type: z.enum(["text", "number", "switch", "choice"]).describe("What kind of value it takes."),
  description: Line.describe("One sentence for help and forms."),
  choices: z.array(Word).min(1).max(64).optional().describe("The values of a choice."),
  default: z.union([z.string(), z.number(), z.boolean()]).optional().describe("The default value."),
  flag: z
    .union([Argument, Arguments.min(1)])
    .describe("Arguments that carry it, with {value} in them; a switch has no value."),
});
export type OptionFile = z.infer<typeof Option>;

/** Field of the JSON line, such as `message.content.0.text`. */
const Field = z.string().min(1).max(200);
const match = z
  .record(Field, z.union([z.string(), z.number(), z.boolean()]))
  .describe("Fields and the values they must have for a line to be this event.");

const EventRules = {
  session_started: z.strictObject({ match, conversation: Field, model: Field.optional() }),
  message: z.strictObject({ match, text: Field }),
  thinking: z.strictObject({ match, text: Field }),
  tool_called: z.strictObject({ match, tool: Field, id: Field, summary: Field.optional() }),
  tool_answered: z.strictObject({ match, id: Field, is_error: Field.optional(), summary: Field.optional() }),
  file_changed: z.strictObject({
    match,
    path: Field,
    change: z.enum(["created", "changed", "deleted"]).default("changed"),
  }),
  approval_asked: z.strictObject({ match, what: Field }),
  error: z.strictObject({ match, message: Field, is_fatal: Field.optional() }),
  turn_done: z.strictObject({ match, is_error: Field.optional(), text: Field.optional() }),
} as const;

/** One rule, or several for lines of different form. */
const several = <T extends z.ZodType>(rule: T) => z.union([rule, z.array(rule).max(32)]).optional();

const Events = z.strictObject({
  session_started: several(EventRules.session_started),
  message: several(EventRules.message),
  thinking: several(EventRules.thinking),
  tool_called: several(EventRules.tool_called),
  tool_answered: several(EventRules.tool_answered),
  file_changed: several(EventRules.file_changed),
  approval_asked: several(EventRules.approval_asked),
  error: several(EventRules.error),
  turn_done: several(EventRules.turn_done),
});
export type EventsFile = z.infer<typeof Events>;

/** The file that defines an agent. Rules that a schema cannot express are in user-agent-checks.ts. */
export const AgentFile = z.strictObject({
  name: z.string().max(32).describe("What people type: agentbox run NAME."),
  title: Line.optional().describe("Name as people write it. Default: the name."),
  description: Line.describe("One sentence for help."),
  api: ModelApi.optional().describe("The API it speaks to the model gateway; without one it needs no model."),
  default_model: Word.optional().describe("Model to ask for when none is chosen."),
  hosts: z.array(Word).max(64).default([]).describe("Hosts it needs beside the model gateway."),
  state: z.array(Line).max(64).default([]).describe("Where it keeps what it knows, below the home."),
  login: z.array(Line).max(64).default([]).describe("Where a login would be, below the home."),
  install: z.strictObject({
    kind: z.enum(["none", "npm", "pypi", "path"]).describe("Where its program comes from."),
    package: z.string().max(214).optional().describe("Name of the package on the registry."),
    version: z.string().max(64).optional().describe("The exact version."),
    bin: Line.optional().describe("Name of the program."),
    hint: Line.optional().describe("One sentence that says how to get the program (kind path)."),
  }),
  launch: z.strictObject({
    headless: Command.min(1).optional().describe("Arguments for a task without a terminal."),
    interactive: Command.min(1).optional().describe("Arguments with a terminal. Default: the program alone."),
    resume: Command.min(1).optional().describe("Arguments that are added when a conversation goes on."),
    resume_headless: Command.min(1).optional().describe("All arguments, instead of headless and resume."),
    resume_interactive: Command.min(1)
      .optional()
      .describe("All arguments, instead of interactive and resume."),
    env: z.record(z.string(), z.string().max(4_096)).default({}).describe("Environment variables."),
  }),
  autonomy: z
    .strictObject({
      ask: Arguments.default([]).describe("Flags with which it asks before it does anything."),
      edit: Arguments.default([]).describe("Flags with which it changes files unasked."),
      full: Arguments.default([]).describe("Flags with which it does everything unasked."),
    })
    .optional(),
  files: z
    .array(
      z.strictObject({
        path: Line.describe("Below the home."),
        how: z
          .enum(["replace", "absent", "merge"])
          .default("replace")
          .describe("What to do when it is there."),
        text: z.string().max(65_536).describe("Its text, with placeholders."),
      }),
    )
    .max(32)
    .default([]),
  links: z.record(Line, Argument).default({}).describe("Links to make: path below the home → target."),
  options: z.record(z.string(), Option).default({}),
  events: Events.optional(),
  keys: z
    .strictObject({
      submit: Key.default("enter").describe("What sends a text that was typed."),
      interrupt: Key.default("ctrl-c").describe("What stops it."),
    })
    .optional(),
});
export type AgentFile = z.infer<typeof AgentFile>;

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

let schema: SchemaNode | undefined;

/** The keys that a table of the file may have at this path, for "did you mean". */
export function knownKeys(path: readonly (string | number)[]): readonly string[] {
  // Built when it is needed, because turning a schema into data takes a moment and most files are right.
  schema ??= toJSONSchema(AgentFile, { io: "input" }) as SchemaNode;
  let node: SchemaNode | undefined = schema;
  for (const part of path) node = node && childOf(node, part);
  return node ? Object.keys(propertiesOf(node)) : [];
}

const propertiesOf = (node: SchemaNode): Readonly<Record<string, SchemaNode>> =>
  node.properties ?? node.anyOf?.find((option) => option.properties)?.properties ?? {};

function childOf(node: SchemaNode, part: string | number): SchemaNode | undefined {
  if (typeof part === "number") return node.items ?? node.anyOf?.find((option) => option.items)?.items;
  const properties = propertiesOf(node);
  if (Object.hasOwn(properties, part)) return properties[part];
  return typeof node.additionalProperties === "object" ? node.additionalProperties : undefined;
}
