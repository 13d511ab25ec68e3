import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { exitCodes } from "../../base/error-codes.ts";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import {
  agentLogins,
  agentOfLogin,
  loginSecret,
  requireUsableLogin,
} from "../../contract/secret/agent-login.ts";
import { maxSecretBytes } from "../../contract/secret/secret.ts";
import { askYesNo } from "../render/ask.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { readSecretValue } from "../secrets/read-secret.ts";
import { renderSecrets } from "../render/secrets.ts";

export const run: RunCommand = async (context) => {
  const [verb = "", agent] = context.args.positionals;
  if (verb === "ls") return list(context);
  if (verb === "rm") return remove(context, requireAgent(agent));
  if (agent !== undefined) {
    throw new AgentBoxError("input.invalid", "A login is taken for one agent at a time.", {
      hint: `Write: agentbox login ${printable(verb)}`,
    });
  }
  return take(context, verb);
};

function requireAgent(agent: string | undefined): string {
  if (agent !== undefined) return agent;
  throw new AgentBoxError("input.invalid", "The name of an agent is missing.", {
    hint: "Write: agentbox login rm claude",
  });
}

async function take(context: CommandContext, agent: string): Promise<number> {
  const { args, screen } = context;
  requireUsableLogin(agent);
  const isToken = args.isSet("token");
  const value = isToken ? await readToken(context, agent) : await readLogin(context, agent);
  const client = await context.connect();
  const form = isToken ? "token" : "file";
  const secret = await client.keepLogin({ agent, form, value: value.toString("base64") });
  if (!isToken) sayWhoRefreshes(context, agent);
  const grants = (await mayGrant(context, agent))
    ? await client.grantSecret({ name: secret.name, scope: "agent", agent })
    : [];
  if (screen.isJson) screen.printJson({ secret, grants });
  else if (grants.length > 0) screen.print(`Every box of ${agent} may use ${secret.name}.`);
  else
    screen.print(
      `Saved ${secret.name}. Let boxes use it: agentbox vault grant ${secret.name} --agent ${agent}`,
    );
  return 0;
}

function readToken(context: CommandContext, agent: string): Promise<Buffer> {
  const command = agentLogins[agent]?.tokenCommand;
  if (command === undefined) {
    throw new AgentBoxError("input.invalid", `${agent} makes no tokens for others.`, {
      hint: `Take its own login: agentbox login ${agent}`,
    });
  }
  if (context.args.isSet("from")) {
    throw new AgentBoxError("input.invalid", "A token comes from a prompt, stdin or a command.", {
      hint: "Use one of --token and --from.",
    });
  }
  return readSecretValue(context, `What ${command} printed: `);
}

async function readLogin(context: CommandContext, agent: string): Promise<Buffer> {
  const { args, env } = context;
  if (args.isSet("from-command")) return readSecretValue(context, "");
  const { agents } = await context.loadCatalogue();
  const [own = ""] = agents[agent]?.loginPaths ?? [];
  const file = args.text("from") ?? join(env.userHome, own);
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new AgentBoxError("file.not_found", `There is no login of ${agent} in ${printable(file)}.`, {
      hint: `Log in with ${agent} on this host first, or name the file: --from FILE`,
      facts: { file, code: systemCode(error) },
    });
  });
  if (bytes.length > 0 && bytes.length <= maxSecretBytes) return bytes;
  throw new AgentBoxError("input.invalid", `${printable(file)} is empty, or too large to be a login.`, {
    hint: "Name the file that the agent's program keeps its login in: --from FILE",
  });
}

/** Refresh tokens are used once: the second user of one is logged out. */
function sayWhoRefreshes({ screen }: CommandContext, agent: string): void {
  const { tokenCommand } = agentLogins[agent]!;
  const instead =
    tokenCommand === undefined
      ? ""
      : ` A token of its own has no such limit: ${tokenCommand}, then agentbox login ${agent} --token.`;
  screen.note(
    `AgentBox refreshes this login from now on. ${agent} outside of boxes has the same one, and each refresh ends the other's: it may ask you to log in again.${instead}`,
  );
}

async function mayGrant({ args, screen }: CommandContext, agent: string): Promise<boolean> {
  if (args.isSet("yes")) return true;
  return screen.isInteractive && !screen.isJson && askYesNo(screen, `Let every box of ${agent} use it?`);
}

async function list({ screen, connect }: CommandContext): Promise<number> {
  const all = await (await connect()).listSecrets();
  const kept = all.filter(({ secret }) => agentOfLogin(secret.name) !== undefined);
  if (screen.isJson) screen.printJson({ logins: kept });
  else if (kept.length === 0) screen.print("There is no login. Take one: agentbox login claude");
  else screen.print(renderSecrets(kept, Date.now(), screen.style));
  return 0;
}

async function remove({ args, screen, connect }: CommandContext, agent: string): Promise<number> {
  const name = loginSecret(agent);
  const client: Client = await connect();
  await client.getSecret({ name });
  if (!args.isSet("yes")) {
    if (!screen.isInteractive) {
      throw new AgentBoxError(
        "input.invalid",
        "Removing a login for good needs a yes, and there is no terminal to ask at.",
        {
          hint: `Add --yes: agentbox login rm ${printable(agent)} --yes`,
        },
      );
    }
    if (!(await askYesNo(screen, `Forget ${name}? Boxes of ${agent} then need a key.`)))
      return exitCodes.refused;
  }
  await client.removeSecret({ name });
  if (screen.isJson) screen.printJson({ name });
  else screen.print(`Forgot ${name}.`);
  return 0;
}
