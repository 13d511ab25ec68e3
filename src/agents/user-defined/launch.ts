import { AgentBoxError } from "../../base/errors.ts";
import type { Launch, LaunchRequest, SeedFile } from "../../contract/agent.ts";
import {
  type ArgumentTemplate,
  type PlaceholderValues,
  fill,
  fillArguments,
  wordsIn,
} from "./argument-template.ts";
import { mcpServersJson } from "../launch/mcp-servers-json.ts";
import { optionArguments } from "./options.ts";
import type { AgentFile } from "./schema.ts";

/** An agent file and a request → what is started. Pure, like every launch of the catalogue. */
export function launchUserAgent(file: AgentFile, request: LaunchRequest): Launch {
  const values = valuesOf(file, request);
  const { command, added } = commandOf(file, request);
  // Never silently a new conversation when an old one was asked for.
  if (values.conversation === undefined && [...command, ...added].some(needsConversation)) {
    throw new AgentBoxError("agent.no_conversation", `The conversation of ${file.name} is not known.`, {
      hint: "Start a new one, with a task that says what to go on with.",
    });
  }
  const none = { autonomy: [], options: [], resume: [], args: [] };
  const [program, ...rest] = fillArguments(command, values, {
    autonomy: file.autonomy?.[request.autonomy] ?? [],
    options: optionArguments(file.options, request.options),
    resume: fillArguments(added, values, none),
    args: request.args,
  });
  const links = fillTable(file.links, values);
  return {
    argv: [program!, ...rest],
    env: fillTable(file.launch.env, values),
    files: file.files.flatMap((seed) => fillFile(seed, values)),
    ...(Object.keys(links).length > 0 && { links }),
  };
}

const needsConversation = (template: ArgumentTemplate): boolean =>
  typeof template === "string" && wordsIn(template).includes("conversation");

type Command = readonly ArgumentTemplate[];

function commandOf(file: AgentFile, { mode, resume }: LaunchRequest): { command: Command; added: Command } {
  const { launch } = file;
  const fresh = mode === "headless" ? launch.headless : (launch.interactive ?? ["{program}"]);
  if (!fresh) {
    throw new AgentBoxError("agent.invalid", `The agent ${file.name} does not work without a terminal.`, {
      hint: "Run it without a task, or add launch.headless to its file.",
    });
  }
  if (!resume) return { command: fresh, added: [] };
  const whole = mode === "headless" ? launch.resume_headless : launch.resume_interactive;
  if (whole) return { command: whole, added: [] };
  if (launch.resume) return { command: fresh, added: launch.resume };
  throw new AgentBoxError(
    "agent.no_conversation",
    `The agent ${file.name} cannot go on with a conversation.`,
    {
      hint: "Start a new one, or add launch.resume to its file.",
    },
  );
}

function valuesOf(file: AgentFile, request: LaunchRequest): PlaceholderValues {
  const { resume, endpoint, mcp } = request;
  return {
    program: request.program,
    task: request.task,
    conversation: resume?.conversation,
    new_conversation: request.newConversation,
    model: request.model ?? file.default_model,
    base_url: endpoint.baseUrl,
    token: endpoint.token,
    workspace: request.workspace,
    home: request.home,
    instructions: request.instructions,
    skills_dir: request.skillsDir,
    mcp_json: mcp.length > 0 ? mcpServersJson(mcp) : undefined,
  };
}

const fillTable = (
  table: Readonly<Record<string, string>>,
  values: PlaceholderValues,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([key, text]) => {
      const filled = fill(text, values);
      return filled === undefined ? [] : [[key, filled]];
    }),
  );

/**
 * SECURITY: inside a configuration file a value is the inside of a quoted text, so that a quote in a task or a model's
 * name cannot add settings. A file that is nothing but one placeholder is that value as it is.
 */
function fillFile({ path, how, text }: AgentFile["files"][number], values: PlaceholderValues): SeedFile[] {
  const isWhole = /^\s*\{[a-z_]+\}\s*$/.test(text);
  const isQuoted = !isWhole && /\.(json|jsonc|json5|toml|ya?ml)$/.test(path);
  const filled = fill(text, values, isQuoted ? (value) => JSON.stringify(value).slice(1, -1) : undefined);
  return filled === undefined ? [] : [{ path, how, text: filled }];
}
