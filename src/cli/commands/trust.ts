import { resolve } from "node:path";
import { exitCodes } from "../../base/error-codes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { askYesNo } from "../render/ask.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { getManifest } from "../new-box/find-manifest.ts";
import { age } from "../render/table.ts";
import { showRequests } from "../new-box/trust-question.ts";

export const run: RunCommand = async (context) => {
  const [verb, dir] = context.args.positionals;
  if (verb === "ls") return list(context);
  if (verb === "show") return ask(context, dir, { isOnlyShown: true });
  if (verb === "revoke") return revoke(context, dir);
  return ask(context, verb, { isOnlyShown: false });
};

async function list({ screen, connect }: CommandContext): Promise<number> {
  const entries = await (await connect()).listTrust();
  if (screen.isJson) screen.printJson({ entries });
  else if (entries.length === 0) screen.print("Nothing has been agreed to.");
  for (const entry of screen.isJson ? [] : entries) {
    screen.print(
      `${screen.style.bold(printable(entry.projectDir))}  ${screen.style.dim(`${age(entry.grantedAtMs, Date.now())} ago, ${entry.digest}`)}`,
    );
    for (const request of entry.requests) screen.print(`  • ${printable(request)}`);
  }
  return 0;
}

async function ask(
  context: CommandContext,
  dir: string | undefined,
  { isOnlyShown }: { isOnlyShown: boolean },
): Promise<number> {
  const { args, screen, cwd, env } = context;
  const found = await getManifest(dir === undefined ? cwd : resolve(cwd, dir), env);
  const project = { projectDir: found.dir, manifest: { file: found.file, text: found.text } };
  const client = await context.connect();
  const question = await client.askTrust(project);
  if (isOnlyShown || question.isTrusted) {
    if (screen.isJson) screen.printJson(question);
    else if (question.requests.length === 0)
      screen.print("This manifest asks for nothing outside its workspace.");
    else {
      screen.print(`${question.isTrusted ? "Agreed" : "Not agreed"}: ${question.digest}`);
      for (const request of question.requests) screen.print(`  • ${printable(request)}`);
    }
    return 0;
  }
  const agreed = args.text("yes");
  if (agreed === undefined) {
    if (!screen.isInteractive || screen.isJson) {
      throw new AgentBoxError("trust.required", "A person must agree, and there is no terminal to ask at.", {
        hint: `Read the list, then: agentbox trust --yes ${question.digest}`,
        facts: { ...question },
      });
    }
    showRequests(screen, printable(question.projectDir), question.requests);
    if (!(await askYesNo(screen, "Allow exactly this for this project?"))) return exitCodes.refused;
  }
  const entry = await client.grantTrust({ ...project, digest: agreed ?? question.digest });
  if (screen.isJson) screen.printJson(entry);
  else screen.print(`Agreed: ${entry.digest}`);
  return 0;
}

async function revoke({ screen, connect, cwd }: CommandContext, dir: string | undefined): Promise<number> {
  // Toolchains that were allowed for every project.
  const projectDir = dir === "*" ? dir : resolve(cwd, dir ?? ".");
  await (await connect()).revokeTrust({ projectDir });
  if (screen.isJson) screen.printJson({ projectDir });
  else screen.print(`Revoked the agreement for ${printable(projectDir)}.`);
  return 0;
}
