import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import type { InstallAgent } from "../../contract/api/schemas.ts";
import type { InstalledTool } from "../../contract/tool.ts";
import type { CommandContext } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import { shorten } from "../render/table.ts";

/** Installs an agent and shows how far it is. When the command is ended, the daemon gives up, too. */
export async function installWithProgress(
  { screen }: Pick<CommandContext, "screen">,
  client: Client,
  agent: string,
  what: InstallAgent = {},
): Promise<InstalledTool> {
  let message = `Installing ${agent}`;
  return withProgress(
    screen,
    () => shorten(printable(message), screen.size.cols - 4),
    async () => {
      for await (const step of client.installAgent(agent, what)) {
        if (step.type === "progress") message = step.message;
        else if (step.type === "done") return step.tool;
        else throw AgentBoxError.fromBody(step.error);
      }
      throw new AgentBoxError("tool.install_failed", `The daemon went away while it installed ${agent}.`, {
        hint: "Look at: agentbox daemon logs",
      });
    },
  );
}

/**
 * For `tool.not_installed`: installs what was missing, so that the same request can be made again. A version that only
 * this project wants does not become that of every other.
 */
export function installMissing(
  context: Pick<CommandContext, "screen">,
  client: Client,
  { facts }: AgentBoxError,
): Promise<InstalledTool> {
  const { agent, version, digest } = (facts ?? {}) as { agent?: string; version?: string; digest?: string };
  return installWithProgress(context, client, agent ?? "", {
    keepPin: true,
    ...omitUndefined({ version, digest }),
  });
}
