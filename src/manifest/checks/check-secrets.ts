import { boxPaths } from "../../contract/box-paths.ts";
import { compileBinding, namedVariables } from "../secrets/compile-binding.ts";
import { conflictOf } from "../secrets/conflict.ts";
import { parseSshHost, parseWebHost } from "../../contract/secret/secret-host.ts";
import type { Check } from "./check-context.ts";
import { isOwn, loaders } from "./check-env.ts";
import { checkPaths, hostProblem } from "./check-network.ts";
import { type Problem, quote } from "../finding.ts";
import type { Path } from "../path.ts";
import { type SecretEntry, maxSecrets } from "../sections/secrets-section.ts";

export const checkSecrets: Check = ({ secrets = {}, env = {} }) => {
  const entries = Object.entries(secrets);
  if (entries.length > maxSecrets) {
    const message = `There are ${entries.length} secrets, and at most ${maxSecrets} are allowed.`;
    return [{ code: "E014", path: ["secrets"], at: "key", message, hint: "Keep those the work needs." }];
  }
  return [
    ...entries.flatMap(([name, entry]) => checkEntry(entry, ["secrets", name])),
    ...checkTogether(entries, new Set(Object.keys(env))),
  ];
};

type Key = Exclude<keyof SecretEntry, "from" | "service" | "how">;
type How = NonNullable<SecretEntry["how"]>;

const request = ["hosts", "methods", "paths"] as const;
const token = [...request, "env", "placeholder_prefix"] as const;
const keysOf: Readonly<Record<How | "service", readonly Key[]>> = {
  service: [],
  bearer: token,
  basic: [...token, "username"],
  git: [...token, "username"],
  header: [...token, "header", "header_prefix"],
  query: [...token, "parameter"],
  aws: request,
  ssh: ["hosts", "confirm"],
  env: ["env"],
  file: ["file"],
};
const requiredBy: Readonly<Record<How | "service", readonly Key[]>> = {
  service: [],
  bearer: ["hosts"],
  basic: ["hosts"],
  git: ["hosts"],
  header: ["hosts", "header"],
  query: ["hosts", "parameter"],
  aws: ["hosts"],
  ssh: ["hosts"],
  env: ["env"],
  file: ["file"],
};

function checkEntry(entry: SecretEntry, path: Path): Problem[] {
  const { from: _from, service, how, ...rest } = entry;
  if (service !== undefined && how !== undefined) return [notOne(path, "service and how")];
  const kind = service === undefined ? how : "service";
  if (kind === undefined) return [notOne(path, "neither service nor how")];
  const unfit = (Object.keys(rest) as Key[]).filter((key) => !keysOf[kind].includes(key));
  const missing = requiredBy[kind].filter((key) => entry[key] === undefined);
  return [
    ...unfit.map((key) => unfitting(path, key, kind)),
    ...missing.map((key) => missingKey(path, key, kind)),
    ...checkHosts(entry, path),
    ...checkPaths(entry.paths ?? [], [...path, "paths"]),
    ...checkHeader(entry, path),
    ...checkFile(entry, path),
    ...checkVariables(entry, path),
  ];
}

const notOne = (path: Path, what: string): Problem => ({
  code: "E058",
  path,
  message: `The secret ${quote(path.at(-1))} has ${what}.`,
  hint: 'Keep exactly one: service = "github", or how with hosts.',
});

const unfitting = (path: Path, key: string, kind: How | "service"): Problem => ({
  code: "E059",
  path: [...path, key],
  at: "key",
  message: `${key} does not belong to ${wordsFor(kind)}.`,
  hint: `Remove it; ${wordsFor(kind)} takes ${["from", ...keysOf[kind]].join(", ")}.`,
});

const missingKey = (path: Path, key: string, kind: How | "service"): Problem => ({
  code: "E013",
  path,
  message: `The key ${quote(key)} is missing, which ${wordsFor(kind)} needs.`,
  hint: `Add ${key}.`,
});

const wordsFor = (kind: How | "service"): string => (kind === "service" ? "a service" : `how = "${kind}"`);

function checkHosts({ how, hosts = [] }: SecretEntry, path: Path): Problem[] {
  if (how === undefined || how === "env" || how === "file") return [];
  return hosts.flatMap((text, i) => {
    const parsed = how === "ssh" ? parseSshHost(text) : parseWebHost(text);
    return "problem" in parsed ? [hostProblem(text, parsed, [...path, "hosts", i])] : [];
  });
}

/**
 * SECURITY: a value in one of these changes how the request is read, where it goes, or what comes back: the box could
 * make the gate speak for it. Cookies are left out, because an answer can set another one beside it.
 */
const closedHeaders =
  /^(?:host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|content-(?:length|type|encoding|range)|cookie2?|set-cookie2?|expect|range|if-.*|accept-encoding|date|via|forwarded|x-forwarded-.*|proxy-.*|sec-.*|alt-svc|http2-settings|max-forwards)$/i;

function checkHeader({ header }: SecretEntry, path: Path): Problem[] {
  if (header === undefined || !closedHeaders.test(header.replaceAll("_", "-"))) return [];
  const message = `The header ${quote(header)} cannot carry a secret.`;
  const hint = 'Name the header that the service reads its key from, such as "X-Api-Key".';
  return [{ code: "E060", path: [...path, "header"], message, hint }];
}

const fileName = new RegExp(`^${boxPaths.secrets}/(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$`);

function checkFile({ file }: SecretEntry, path: Path): Problem[] {
  if (file === undefined || fileName.test(file)) return [];
  const message = `The file ${quote(file)} is not a plain name below ${boxPaths.secrets}.`;
  const hint = `Write it like "${boxPaths.secrets}/npm-token".`;
  return [{ code: "E061", path: [...path, "file"], message, hint }];
}

function checkVariables(entry: SecretEntry, path: Path): Problem[] {
  const names = namedVariables(entry);
  const problems = names.flatMap((name): Problem[] => {
    if (!isOwn(name) && name.toUpperCase() !== "PATH" && !loaders.has(name)) return [];
    const message = `The variable ${quote(name)} cannot stand for a secret.`;
    const hint = "Choose the variable that the program reads its token from.";
    return [{ code: "E063", path: [...path, "env"], message, hint }];
  });
  if (entry.how !== "env" || names.length <= 1) return problems;
  const message = `The box would hold the secret in ${names.length} variables.`;
  return [...problems, { code: "E014", path: [...path, "env"], message, hint: "Name one variable." }];
}

/** Each entry by itself is checked before; this is about two of them, and about [env]. */
function checkTogether(
  entries: readonly (readonly [string, SecretEntry])[],
  taken: ReadonlySet<string>,
): Problem[] {
  const bindings = entries.flatMap(([name, entry]) => compileBinding(name, entry) ?? []);
  return bindings.flatMap((binding, i): Problem[] => {
    const before = bindings.slice(0, i);
    const conflict = conflictOf(binding, before, taken);
    return conflict === undefined ? [] : [{ ...conflict, path: ["secrets", binding.name] }];
  });
}
