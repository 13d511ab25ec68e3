import { resolve } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { ManifestValues } from "../../manifest/schema.ts";
import { readHostVariable } from "../../host/env.ts";
import type { Arguments } from "../line/arguments.ts";
import type { FlagSpec } from "../command.ts";
import { suggest } from "../../base/suggest.ts";
import { type SecretServiceName, secretServiceNames } from "../../contract/secret/services.ts";

/** `github`, or `github=NAME` for another secret of the vault: a service whose hosts and ways are known. */
function parseSecrets(texts: readonly string[]): NonNullable<ManifestValues["secrets"]> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      const service = text.slice(0, at === -1 ? text.length : at);
      if (!isService(service)) throw unknownService(service);
      return [service, { service, ...(at === -1 ? {} : { from: `vault:${text.slice(at + 1)}` }) }];
    }),
  );
}

const isService = (name: string): name is SecretServiceName =>
  (secretServiceNames as readonly string[]).includes(name);

function unknownService(name: string): AgentBoxError {
  const meant = suggest(name, secretServiceNames);
  return new AgentBoxError("input.invalid", `--secret ${name.slice(0, 64)} is not a known service.`, {
    hint: meant
      ? `Did you mean --secret ${meant}?`
      : `Known: ${secretServiceNames.join(", ")}. Others are written into the manifest, with how and hosts: [secrets.NAME]`,
  });
}

type Mount = NonNullable<ManifestValues["mounts"]>[number];

const invalid = (message: string, hint: string) => new AgentBoxError("input.invalid", message, { hint });

/** `K=V`, or `K` for the value it has here: a person who types it has decided. */
export function parseEnv(pairs: readonly string[]): Record<string, string> {
  const env: Record<string, string> = {};
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const name = at === -1 ? pair : pair.slice(0, at);
    const value = at === -1 ? readHostVariable(name) : pair.slice(at + 1);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw invalid(`--env ${pair} has no usable name.`, "Write --env NAME=VALUE.");
    if (value === undefined)
      throw invalid(`The variable ${name} is not set here.`, `Write --env ${name}=VALUE.`);
    env[name] = value;
  }
  return env;
}

/** `K=V`, or `K` for a switch that is on. The agent's schema tells numbers and switches from texts. */
function parseOptions(pairs: readonly string[]): Record<string, string | boolean> {
  const options = pairs.map((pair): [string, string | boolean] => {
    const at = pair.indexOf("=");
    const name = at === -1 ? pair : pair.slice(0, at);
    if (name === "") throw invalid(`--option ${pair} has no name.`, "Write --option NAME=VALUE.");
    return [name, at === -1 ? true : pair.slice(at + 1)];
  });
  return Object.fromEntries(options);
}

/** The options of the agent that have a flag of their own. */
function optionsFromFlags(
  args: Arguments,
  flags: Readonly<Record<string, FlagSpec>>,
): Record<string, string | boolean> {
  const set = Object.entries(flags).filter(([name, flag]) => flag.option !== undefined && args.isSet(name));
  return Object.fromEntries(
    set.map(([name, { option, type }]) => [option, type === "switch" ? true : args.text(name)!]),
  );
}

/** `SRC:DST` or `SRC:DST:rw`; the source is looked up from where the person is. */
export function parseMount(text: string, cwd: string): Mount {
  const match = /^(.+?):(\/[^:]*)(?::(ro|rw))?$/.exec(text);
  if (!match)
    throw invalid(
      `--mount ${text} is not SOURCE:TARGET or SOURCE:TARGET:rw.`,
      "The target is an absolute path in the box.",
    );
  const [, source, target, access] = match;
  return { source: resolve(cwd, source!), target: target!, access: access === "rw" ? "write" : "read" };
}

export function parseNumber(args: Arguments, flag: string): number | undefined {
  const text = args.text(flag);
  if (text === undefined) return undefined;
  if (!/^\d+(\.\d+)?$/.test(text))
    throw invalid(`--${flag} is "${text}", which is not a number.`, `Write --${flag} 2.`);
  return Number(text);
}

/** The flags that were given, so that an absent flag does not hide the manifest's value. */
function given<T extends object>(values: T) {
  const fields = omitUndefined(values);
  return Object.keys(fields).length === 0 ? undefined : fields;
}

/** The network part of the flags. */
export function networkFromFlags(args: Arguments): ManifestValues["network"] {
  const [typed, presets] = [args.list("allow"), args.list("preset")];
  // A repository that is named on the command line means that its host may be reached.
  const host = /^https:\/\/([^/@\s]+)\//.exec(args.text("repo") ?? "")?.[1];
  const allow = host === undefined ? typed : [...typed, host];
  return given({
    default: args.text("network"),
    presets: presets.length > 0 ? [...presets] : undefined,
    allow: allow.length > 0 ? [...allow] : undefined,
    learn: args.isSet("learn") ? true : undefined,
  }) as ManifestValues["network"];
}

/** Flags as the part of a manifest they stand for. */
export function manifestFromFlags(
  args: Arguments,
  cwd: string,
  flags: Readonly<Record<string, FlagSpec>> = {},
): ManifestValues | undefined {
  const agentArgs = args.rest && args.rest.length > 0 ? [...args.rest] : undefined;
  const env = parseEnv(args.list("env"));
  const options = { ...parseOptions(args.list("option")), ...optionsFromFlags(args, flags) };
  const mounts = args.list("mount").map((mount) => parseMount(mount, cwd));
  return given({
    agent: given({
      name: Object.hasOwn(flags, "agent") ? args.text("agent") : args.positionals[0],
      args: agentArgs,
      version: args.text("agent-version"),
      autonomy: args.text("autonomy"),
      options: Object.keys(options).length > 0 ? options : undefined,
    }),
    model: given({ name: args.text("model") }),
    budget: given({
      run: given({ tokens: args.integer("budget-tokens"), usd: parseNumber(args, "budget-usd") }),
    }),
    workspace: given({ mode: args.text("workspace"), carry: args.text("carry"), url: args.text("repo") }),
    runtime: given({ name: args.text("runtime"), tier: args.text("tier") }),
    resources: given({
      memory: args.text("memory"),
      cpus: parseNumber(args, "cpus"),
      pids: args.integer("pids"),
      disk: args.text("disk"),
    }),
    lifecycle: given({ ttl: args.text("ttl"), idle: args.text("idle") }),
    network: networkFromFlags(args),
    secrets: given(parseSecrets(args.list("secret"))),
    mounts: mounts.length > 0 ? mounts : undefined,
    env: Object.keys(env).length > 0 ? env : undefined,
  }) as ManifestValues | undefined;
}
