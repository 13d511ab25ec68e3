import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import { askYesNo } from "../render/ask.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { parsePort } from "../boxes/port-number.ts";
import { openBrowser } from "../open-browser.ts";

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const [box = "", typed] = args.positionals;
  const chosen = typed === undefined ? undefined : parsePort(typed, box);
  const client = await context.connect();
  const port = chosen ?? (await findOnlyPort(client, box));
  const preview = await openAgreed(context, client, box, port);
  if (screen.isJson) {
    screen.printJson(preview);
    return 0;
  }
  const isOpened = !args.isSet("print") && (await openBrowser(preview.url));
  screen.print(preview.url);
  if (isOpened) screen.note("Opened in your browser. The address works once.");
  else screen.note("Open it in a browser on this machine. It works once, within five minutes.");
  return 0;
};

async function findOnlyPort(client: Client, box: string): Promise<number> {
  const ports = await client.listPorts(box);
  const [only, ...others] = ports;
  if (only === undefined)
    throw new AgentBoxError("port.closed", `Nothing in ${box} listens on a port.`, {
      hint: `Start its server first; see agentbox ports ${box}.`,
    });
  if (others.length === 0) return only.port;
  const listed = ports.map(({ port, service, program }) => {
    const name = service ?? program;
    return name === undefined ? String(port) : `${port} (${printable(name)})`;
  });
  throw new AgentBoxError("input.invalid", `${box} listens on ${ports.length} ports: ${listed.join(", ")}.`, {
    hint: `Choose one: agentbox preview ${box} ${only.port}`,
    facts: { ports: ports.map(({ port }) => port) },
  });
}

/** A box with secrets in its reach is shown after a yes to the list of them: typed beforehand, or at the terminal. */
async function openAgreed(
  { args, screen }: CommandContext,
  client: Client,
  box: string,
  port: number,
): ReturnType<Client["openPreview"]> {
  try {
    return await client.openPreview(box, { port });
  } catch (error) {
    const { holds, digest } = isAgentBoxError(error, "preview.unconfirmed") ? (error.facts ?? {}) : {};
    if (!Array.isArray(holds) || typeof digest !== "string") throw error;
    const mayAsk = screen.isInteractive && !screen.isJson;
    if (!args.isSet("yes") && !mayAsk) throw error;
    screen.note(`A page of ${box} runs in your browser, and can send out what the box knows. The box can:`);
    for (const text of holds) screen.note(`  ${screen.errorStyle.yellow("•")} ${printable(String(text))}`);
    if (!args.isSet("yes") && !(await askYesNo(screen, "Show pages of this box in the browser?")))
      throw error;
    return await client.openPreview(box, { port, agreed: digest });
  }
}
