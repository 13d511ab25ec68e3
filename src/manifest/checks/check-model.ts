import { suggest } from "../../base/suggest.ts";
import { builtInProviders } from "../../contract/model/api.ts";
import { type BaseUrl, parseBaseUrl } from "../../contract/model/base-url.ts";
import { isModelAllowed } from "../../contract/model/model-pattern.ts";
import type { Check } from "./check-context.ts";
import { type Problem, quote } from "../finding.ts";
import type { ProviderEntry } from "../sections/model-section.ts";
import type { Path } from "../path.ts";

const builtInNames = builtInProviders.map(({ name }) => name);

/** The rules of every file that has a [model]. */
export const checkModel: Check = (values, context) => [
  ...Object.entries(values.model?.providers ?? {}).flatMap(([name, entry]) =>
    checkProvider(name, entry, ["model", "providers", name]),
  ),
  ...checkChoice(values, context),
  ...checkAllowed(values, context),
];

/** SECURITY: budgets of money are counted with the prices; a repository does not set what it is held by. */
export const checkPrices: Check = ({ model = {} }) =>
  model.prices === undefined
    ? []
    : [
        {
          code: "E048",
          path: ["model", "prices"],
          at: "key",
          message: "model.prices is set by the person who pays.",
          hint: "Write it into the user config.",
        },
      ];

/**
 * SECURITY: a login is used by its agent's model gateway, by grant. A repository that could name it would send it to an
 * address of its own.
 */
export const checkLogins: Check = ({ model = {}, secrets = {} }) => {
  const named: (readonly [string | undefined, Path])[] = [
    ...Object.entries(model.providers ?? {}).map(
      ([name, { key }]) => [key, ["model", "providers", name, "key"]] as const,
    ),
    ...Object.entries(secrets).map(([name, { from }]) => [from, ["secrets", name, "from"]] as const),
  ];
  return named
    .filter(([ref]) => ref?.startsWith("vault:login/"))
    .map(([, path]) => ({
      code: "E057",
      path,
      message: "The login of an agent is not for manifests.",
      hint: "Let the agent use it: agentbox vault grant login/NAME --agent NAME",
    }));
};

const urlCodes = { unreadable: "E043", in_clear: "E044", never_opened: "E045" } as const;
const urlHints = {
  unreadable: 'Write scheme and host, such as "https://models.example.org" or "http://127.0.0.1:11434".',
  in_clear: "Use https.",
  never_opened: "Name the address of the model server itself.",
} as const satisfies Record<Extract<BaseUrl, { problem: string }>["problem"], string>;

function checkProvider(name: string, entry: ProviderEntry, path: Path): Problem[] {
  const problems: Problem[] = [];
  for (const key of builtInNames.includes(name) ? [] : (["api", "base_url"] as const)) {
    if (entry[key] !== undefined) continue;
    const message = `The provider ${quote(name)} is not built in, and has no ${key}.`;
    problems.push({ code: "E013", path, at: "key", message, hint: `Add model.providers.${name}.${key}.` });
  }
  if (entry.key !== undefined && entry.key_env !== undefined) {
    const message = `The provider ${quote(name)} has a key in the vault and one in a variable.`;
    problems.push({
      code: "E064",
      path: [...path, "key_env"],
      at: "key",
      message,
      hint: "Keep one of them.",
    });
  }
  const parsed = entry.base_url === undefined ? undefined : parseBaseUrl(entry.base_url);
  if (parsed !== undefined && "problem" in parsed) {
    const message = `The address ${quote(entry.base_url)} cannot be used: ${parsed.reason}.`;
    const code = urlCodes[parsed.problem];
    problems.push({ code, path: [...path, "base_url"], message, hint: urlHints[parsed.problem] });
  }
  return problems;
}

const checkChoice: Check = ({ model = {} }, { providers }) => {
  const { provider } = model;
  if (provider === undefined || providers === undefined) return [];
  const known = [...new Set([...builtInNames, ...providers, ...Object.keys(model.providers ?? {})])];
  if (known.includes(provider)) return [];
  const meant = suggest(provider, known);
  const message = `There is no model provider named ${quote(provider)}.`;
  const hint = meant ? `Did you mean "${meant}"?` : `Known: ${known.join(", ")}.`;
  return [{ code: "E047", path: ["model", "provider"], message, hint }];
};

const checkAllowed: Check = ({ model = {} }) => {
  const { name, allow = [], aliases = {} } = model;
  const meant = name !== undefined && Object.hasOwn(aliases, name) ? aliases[name] : name;
  if (meant === undefined || isModelAllowed(allow, meant)) return [];
  const message = `The model ${quote(meant)} is not among those that model.allow names.`;
  return [{ code: "E054", path: ["model", "name"], message, hint: "Allow it, or choose another." }];
};
