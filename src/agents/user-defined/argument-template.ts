/**
 * Arguments with placeholders, as a person's own agent file has them.
 * SECURITY: a value always stays inside the one argument that names it. Nothing is split, quoted or given to a shell,
 * so no text of a task can become a second argument.
 */

/** Placeholders for one text. A value that is undefined is not there in this launch. */
export const placeholders = [
  "program",
  "task",
  "conversation",
  "new_conversation",
  "model",
  "base_url",
  "token",
  "workspace",
  "home",
  "instructions",
  "skills_dir",
  "mcp_json",
] as const;
export type Placeholder = (typeof placeholders)[number];
export type PlaceholderValues = Readonly<Record<Placeholder, string | undefined>>;

/** Placeholders for any number of whole arguments, which must be arguments of their own. */
export const listPlaceholders = ["autonomy", "options", "resume", "args"] as const;
export type ListPlaceholder = (typeof listPlaceholders)[number];
export type ListValues = Readonly<Record<ListPlaceholder, readonly string[]>>;

/** One argument, or several that are left out together when one of their placeholders has no value. */
export type ArgumentTemplate = string | readonly string[];

const pattern = /\{([a-z_]+)\}/g;

/** Every `{word}` in a text, known or not. Other braces, such as those of JSON, are ordinary. */
export const wordsIn = (text: string): string[] => [...text.matchAll(pattern)].map(([, word]) => word!);

const isPlaceholder = (word: string): word is Placeholder => placeholders.some((known) => known === word);

/** The text with its values; undefined when one of them is not there. */
export function fill(
  text: string,
  values: PlaceholderValues,
  change: (value: string) => string = (value) => value,
): string | undefined {
  let isComplete = true;
  const filled = text.replaceAll(pattern, (whole, word: string) => {
    if (!isPlaceholder(word)) return whole;
    const value = values[word];
    if (value === undefined) isComplete = false;
    return value === undefined ? "" : change(value);
  });
  return isComplete ? filled : undefined;
}

/** Templates → arguments. Lists that no template names come at the end, in the order of `listPlaceholders`. */
export function fillArguments(
  templates: readonly ArgumentTemplate[],
  values: PlaceholderValues,
  lists: ListValues,
): string[] {
  const filled = templates.flatMap((template) => {
    const list = listOf(template);
    return list === undefined ? fillGroup([template].flat(), values) : lists[list];
  });
  const named = new Set(templates.map(listOf));
  const rest = listPlaceholders.filter((name) => !named.has(name)).flatMap((name) => lists[name]);
  return [...filled, ...rest];
}

function listOf(template: ArgumentTemplate): ListPlaceholder | undefined {
  return listPlaceholders.find((name) => template === `{${name}}`);
}

function fillGroup(group: readonly string[], values: PlaceholderValues): string[] {
  const filled = group.map((text) => fill(text, values));
  return filled.every((text) => text !== undefined) ? filled : [];
}
