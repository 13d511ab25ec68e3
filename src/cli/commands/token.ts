import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { suggest } from "../../base/suggest.ts";
import { mostOf } from "../../contract/access/harms.ts";
import { type Scope, wordScopes } from "../../contract/access/scope-names.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { age, renderTable } from "../render/table.ts";
import { left } from "../render/time-left.ts";
import { say } from "../render/say.ts";

export const run: RunCommand = async (context) => {
  const [verb = "ls", word] = context.args.positionals;
  if (verb === "ls" && word === undefined) return list(context);
  if (verb === "create") return create(context, word);
  if (verb === "rm") return remove(context, word);
  throw new AgentBoxError("command.unknown", `There is no "agentbox token ${verb}".`, {
    hint: `Did you mean: agentbox token ${suggest(verb, ["ls", "create", "rm"]) ?? "ls"}`,
  });
};

async function list({ screen, connect }: CommandContext): Promise<number> {
  const tokens = await (await connect()).listTokens();
  if (screen.isJson) screen.printJson({ tokens });
  else if (tokens.length === 0) screen.print("There is no access token.");
  else {
    const nowMs = Date.now();
    const rows = tokens.map(({ id, name, scopes, holder, usedAtMs, expiresAtMs }) => [
      id,
      printable(name),
      scopes.join(" "),
      printable(holder),
      usedAtMs === undefined ? "never" : `${age(usedAtMs, nowMs)} ago`,
      left(expiresAtMs, nowMs),
    ]);
    screen.print(renderTable([["ID", "NAME", "SCOPES", "OF", "USED", "ENDS"], ...rows]));
  }
  return 0;
}

async function create({ args, screen, connect }: CommandContext, name: string | undefined): Promise<number> {
  const scopes = args.list("scope") as readonly Scope[];
  if (name === undefined || scopes.length === 0) {
    throw new AgentBoxError("input.invalid", "A name and at least one scope are needed.", {
      hint: "Write: agentbox token create NAME --scope read",
    });
  }
  const ttlMs = args.durationMs("expires");
  const { token, value } = await (await connect()).createToken({
    name,
    scopes: [...scopes],
    ...omitUndefined({ ttlMs }),
  });
  if (screen.isJson) screen.printJson({ token, value });
  else {
    screen.print(value);
    screen.note("This is the only time it is shown. Send it as: authorization: Bearer abt_…");
    for (const scope of token.scopes.filter((one) => wordScopes.includes(one)))
      screen.note(`WARNING: anyone who has it can, by its scope ${scope}: ${mostOf(scope).join("; ")}.`);
    screen.note(`End it with: agentbox token rm ${token.id}`);
  }
  return 0;
}

async function remove(context: CommandContext, id: string | undefined): Promise<number> {
  if (id === undefined)
    throw new AgentBoxError("input.invalid", "The id of a token is needed.", {
      hint: "List them: agentbox token ls",
    });
  await (await context.connect()).removeToken({ id });
  return say(context, { id }, `Ended the access token ${printable(id)}, and what it had open.`);
}
