import { resolve } from "node:path";
import { exitCodes } from "../../base/error-codes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { suggest } from "../../base/suggest.ts";
import { builtInProviders } from "../../contract/model/api.ts";
import { secretServices } from "../../contract/secret/services.ts";
import { askYesNo } from "../render/ask.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { findManifest } from "../new-box/find-manifest.ts";
import { readSecretValue } from "../secrets/read-secret.ts";
import { renderAudit, renderSecret, renderSecrets, renderTests } from "../render/secrets.ts";
import { plural } from "../render/table.ts";
import { parseSource } from "../secrets/secret-source.ts";
import { say } from "../render/say.ts";
import { wholeVault } from "../secrets/whole-vault.ts";

type Action = (context: CommandContext, words: readonly string[]) => Promise<number>;

export const run: RunCommand = async (context) => {
  const [verb = "", ...words] = context.args.positionals;
  const [action, most] = (Object.hasOwn(actions, verb) ? actions[verb] : undefined) ?? [];
  if (action && words.length > most!) {
    // SECURITY: a value that was typed here is in the shell's history by now, and must not seem to be kept.
    throw new AgentBoxError("input.invalid", `"vault ${verb}" takes no more words than its names.`, {
      hint:
        verb === "set" || verb === "rotate"
          ? "A value is never an argument: type it at the prompt, or give it on stdin. If that was one, change it."
          : `See: agentbox vault --help`,
    });
  }
  if (action) return action(context, words);
  throw new AgentBoxError("command.unknown", `There is no "agentbox vault ${verb}".`, {
    hint: `Did you mean: agentbox vault ${suggest(verb, Object.keys(actions)) ?? "ls"}`,
  });
};

function requireName(words: readonly string[], verb: string): string {
  const [name] = words;
  if (name !== undefined) return name;
  throw new AgentBoxError("input.invalid", "The name of a secret is missing.", {
    hint: `Write: agentbox vault ${verb} NAME`,
  });
}

async function set(context: CommandContext, words: readonly string[]): Promise<number> {
  const { args } = context;
  const name = requireName(words, "set");
  const kind = (args.text("kind") ?? "text") as "text" | "ssh-key" | "aws";
  const ref = args.text("ref");
  const note = args.text("note");
  const cacheMs = args.durationMs("cache");
  const client = await context.connect();
  if ((await client.listSecrets()).some(({ secret }) => secret.name === name)) {
    throw new AgentBoxError("secret.exists", `There is a secret "${name}" already.`, {
      hint: `Give it a new value: agentbox vault rotate ${name}`,
    });
  }
  const value = ref === undefined ? await readSecretValue(context, `Value of ${name}: `) : undefined;
  const secret = await client.addSecret({
    name,
    kind,
    source: ref === undefined ? { kind: "stored" } : parseSource(ref),
    ...(value === undefined ? {} : { value: value.toString("base64") }),
    ...omitUndefined({ note, cacheMs }),
  });
  return say(context, { secret }, `Saved ${name}. ${nextStep(name, kind)}`);
}

/** How boxes come to use the secret: mostly by a few lines of the manifest. */
function nextStep(name: string, kind: "text" | "ssh-key" | "aws"): string {
  if (builtInProviders.some((provider) => provider.name === name))
    return `Agents' requests to ${name} use it from now on.`;
  if (Object.hasOwn(secretServices, name)) return `Let a box use it: agentbox run claude --secret ${name}`;
  const how = kind === "ssh-key" ? "ssh" : kind === "aws" ? "aws" : "bearer";
  const host = kind === "ssh-key" ? "git@HOST" : "HOST";
  return `Ask for it in agentbox.toml: [secrets.${name}] how = "${how}", hosts = ["${host}"]`;
}

async function ls(context: CommandContext): Promise<number> {
  const { screen } = context;
  const secrets = await (await context.connect()).listSecrets();
  if (screen.isJson) screen.printJson({ secrets });
  else screen.print(renderSecrets(secrets, Date.now(), screen.style));
  return 0;
}

async function show(context: CommandContext, words: readonly string[]): Promise<number> {
  const { screen } = context;
  const details = await (await context.connect()).getSecret({ name: requireName(words, "show") });
  if (screen.isJson) screen.printJson(details);
  else screen.print(renderSecret(details, Date.now(), screen.style));
  return 0;
}

async function rm(context: CommandContext, words: readonly string[]): Promise<number> {
  const { args, screen } = context;
  const name = requireName(words, "rm");
  const client = await context.connect();
  const { grants } = await client.getSecret({ name });
  if (!args.isSet("yes")) {
    if (!screen.isInteractive) {
      throw new AgentBoxError(
        "input.invalid",
        "Removing a secret for good needs a yes, and there is no terminal to ask at.",
        {
          hint: `Add --yes: agentbox vault rm ${name} --yes`,
        },
      );
    }
    const uses = grants.length === 0 ? "No box uses it." : `${grants.length} grants go with it.`;
    if (!(await askYesNo(screen, `Remove ${name} for good? ${uses}`))) return exitCodes.refused;
  }
  await client.removeSecret({ name });
  return say(context, { name }, `Removed ${name}.`);
}

async function rotate(context: CommandContext, words: readonly string[]): Promise<number> {
  const name = requireName(words, "rotate");
  const client = await context.connect();
  await client.getSecret({ name });
  const value = await readSecretValue(context, `New value of ${name}: `);
  const graceMs = context.args.durationMs("grace");
  const secret = await client.rotateSecret({
    name,
    value: value.toString("base64"),
    ...omitUndefined({ graceMs }),
  });
  const version = secret.versions.at(-1)?.version ?? 1;
  return say(
    context,
    { secret },
    `${name} is now version ${version}; boxes use it from the next request on.`,
  );
}

async function grant(context: CommandContext, words: readonly string[]): Promise<number> {
  const { args, cwd, env, screen } = context;
  const name = requireName(words, "grant");
  const box = args.text("box");
  const project = args.text("project");
  const agent = args.text("agent");
  const ttlMs = args.durationMs("for");
  if (box !== undefined && project !== undefined) {
    throw new AgentBoxError("input.invalid", "A grant is for a box or for a project.", {
      hint: "Use one of --box and --project.",
    });
  }
  const scope = agent !== undefined ? "agent" : project !== undefined ? "project" : "box";
  const dir = project === undefined ? cwd : resolve(cwd, project);
  const found = box === undefined ? await findManifest(dir, env) : undefined;
  const client = await context.connect();
  const wish = {
    name,
    scope,
    ...omitUndefined({ box, agent }),
    ...(project === undefined && found === undefined ? {} : { projectDir: found?.dir ?? dir }),
    ...(found === undefined ? {} : { manifest: { file: found.file, text: found.text } }),
    ...omitUndefined({ ttlMs }),
  } as const;
  const whom =
    agent !== undefined
      ? `every box of ${agent}`
      : project !== undefined
        ? `every box of ${found?.dir ?? dir}`
        : `the box ${box ?? ""}`;
  // The manifest may come from anyone: its requests are read before a person agrees to them.
  if (screen.isInteractive && !screen.isJson && !args.isSet("yes")) {
    for (const { sentence } of await client.grantSecret({ ...wish, isPreview: true }))
      screen.note(`${printable(whom)} asks to ${printable(sentence)}.`);
    if (!(await askYesNo(screen, "Grant exactly this?"))) return exitCodes.refused;
  }
  const grants = await client.grantSecret(wish);
  return say(
    context,
    { grants },
    grants.map(({ sentence }) => `Granted: ${printable(whom)} may ${printable(sentence)}.`).join("\n"),
  );
}

async function revoke(context: CommandContext, words: readonly string[]): Promise<number> {
  const { args, cwd, env } = context;
  const name = requireName(words, "revoke");
  const [box, project, agent] = [args.text("box"), args.text("project"), args.text("agent")];
  const dir = project === undefined ? undefined : resolve(cwd, project);
  // As with a grant, a directory inside the project means the project.
  const projectDir = dir && ((await findManifest(dir, env))?.dir ?? dir);
  const { revoked, holders } = await (await context.connect()).revokeSecret({
    name,
    ...omitUndefined({ box, projectDir, agent }),
  });
  const held = `${holders.map(printable).join(", ")} still ${holders.length === 1 ? "holds" : "hold"} the value: stop it, and rotate ${name}.`;
  return say(
    context,
    { revoked, holders },
    [
      `Revoked ${plural(revoked, "grant")} of ${name}, from the next request on.`,
      ...(holders.length === 0 ? [] : [held]),
    ].join("\n"),
  );
}

async function audit(context: CommandContext, words: readonly string[]): Promise<number> {
  const { args, screen } = context;
  const [name] = words;
  const client = await context.connect();
  const records = await client.secretAudit({
    name,
    box: args.text("box"),
    limit: args.integer("limit") ?? 50,
  });
  // A name that was never there is a slip, and no clean record.
  if (records.length === 0 && name !== undefined) await client.getSecret({ name });
  if (screen.isJson) screen.printJson({ records });
  else screen.print(renderAudit(records, Date.now(), screen.style));
  return 0;
}

/** Ends with `refused` when the secret did not reach the server. */
async function test(context: CommandContext, words: readonly string[]): Promise<number> {
  const { args, screen } = context;
  const [box, name] = words;
  if (box === undefined || name === undefined) {
    throw new AgentBoxError("input.invalid", "A box and the name of a secret are needed.", {
      hint: "Write: agentbox vault test BOX NAME",
    });
  }
  const path = args.text("path");
  const client = await context.connect();
  if (!screen.isJson) screen.note(`Asking from inside ${printable(box)}…`);
  const tests = await client.testSecret(box, { name, ...omitUndefined({ path }) });
  if (screen.isJson) screen.printJson({ tests });
  else screen.print(renderTests(tests, screen.style));
  return tests.every(({ isInjected, url }) => isInjected || url === "") ? 0 : exitCodes.refused;
}

/** Each with the most words that may follow it. */
const actions: Readonly<Record<string, readonly [Action, number]>> = {
  set: [set, 1],
  ls: [ls, 0],
  show: [show, 1],
  rm: [rm, 1],
  rotate: [rotate, 1],
  grant: [grant, 1],
  revoke: [revoke, 1],
  audit: [audit, 1],
  test: [test, 2],
  ...wholeVault,
};
