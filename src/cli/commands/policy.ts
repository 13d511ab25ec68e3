import { exitCodes } from "../../base/error-codes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import { printable } from "../../base/printable.ts";
import type { Explanation, PolicyAnswer } from "../../contract/api/schemas.ts";
import { applyPolicy } from "../new-box/apply-policy.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { getNamedBox } from "../boxes/named-box.ts";
import type { Style } from "../render/style.ts";
import { renderTable } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const [verb = "", ...words] = context.args.positionals;
  const action = Object.hasOwn(actions, verb) ? actions[verb as keyof typeof actions] : undefined;
  if (action) return action(context, words);
  throw new AgentBoxError("command.unknown", `There is no "agentbox policy ${verb}".`, {
    hint: `Did you mean: agentbox policy ${suggest(verb, Object.keys(actions)) ?? "show"}`,
  });
};

async function show(context: CommandContext, words: readonly string[]): Promise<number> {
  const { box } = getNamedBox(context, words, 0, "policy show BOX");
  showPolicy(context, await (await context.connect()).getPolicy(box));
  return 0;
}

/** The exit code answers "does it pass without a person": 0 for yes, `refused` for no and for a question. */
async function explain(context: CommandContext, words: readonly string[]): Promise<number> {
  const { args, screen } = context;
  const { box, others } = getNamedBox(context, words, 1, "policy explain BOX URL [-X METHOD]");
  const method = args.text("method");
  const explanation = await (await context.connect()).explainPolicy(box, {
    url: others[0]!,
    ...(method === undefined ? {} : { method: method.toUpperCase() }),
  });
  if (screen.isJson) screen.printJson(explanation);
  else screen.print(renderExplanation(explanation, screen.style));
  return explanation.verdict === "allow" ? 0 : exitCodes.refused;
}

async function learn(context: CommandContext, words: readonly string[]): Promise<number> {
  const { screen } = context;
  const { box } = getNamedBox(context, words, 0, "policy learn BOX");
  const { toml } = await (await context.connect()).learnPolicy(box);
  if (screen.isJson) screen.printJson({ toml });
  // SECURITY: the names in it are the box's choice, and it is shown before it is pasted.
  else screen.print(toml.trimEnd().split("\n").map(printable).join("\n"));
  return 0;
}

async function apply(context: CommandContext, words: readonly string[]): Promise<number> {
  const { box } = getNamedBox(context, words, 0, "policy apply BOX");
  showPolicy(context, await applyPolicy(context, await context.connect(), box));
  return 0;
}

const actions = { show, explain, learn, apply } as const;

function showPolicy({ screen }: CommandContext, answer: PolicyAnswer): void {
  if (screen.isJson) screen.printJson(answer);
  else screen.print(renderPolicy(answer, screen.style));
}

const paintVerdict = (verdict: string, style: Style): string => {
  if (verdict === "allow") return style.green(verdict);
  return verdict === "deny" ? style.red(verdict) : style.yellow(printable(verdict));
};

export function renderPolicy({ policy, lines }: PolicyAnswer, style: Style): string {
  const rows = lines.map(({ verdict, what, rule, where }) => [
    paintVerdict(verdict, style),
    printable(what),
    printable(rule),
    style.dim(printable(where)),
  ]);
  return [
    renderTable([["VERDICT", "WHAT", "RULE", "FROM"].map(style.dim), ...rows]),
    ...(policy.isLearning ? ["", "Learning: what is wanted is recorded, and nothing more let through."] : []),
  ].join("\n");
}

export function renderExplanation(explanation: Explanation, style: Style): string {
  const { verdict, host, port, sentence, reason, rule, layer, file, line, howToChange } = explanation;
  const where = file === undefined ? undefined : `${file}${line === undefined ? "" : `:${line}`}`;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["target", `${host}:${port}`],
    ["reason", reason],
    ["rule", rule],
    ["layer", layer],
    ["at", where],
    ["to change", howToChange],
  ];
  const rows = facts.flatMap(([name, text]) =>
    text === undefined ? [] : [[style.dim(name), printable(text)]],
  );
  return [
    `${style.bold(paintVerdict(verdict, style))}: ${printable(sentence)}`,
    renderTable(rows, "  "),
  ].join("\n");
}
