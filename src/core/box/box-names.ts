import { boxNamePattern } from "../../contract/box.ts";
import { AgentBoxError } from "../../base/errors.ts";

const maxLength = 48;

export const isBoxName = (name: string): boolean =>
  name.length >= 2 && name.length <= maxLength && boxNamePattern.test(name);

export function requireBoxName(name: string): string {
  if (isBoxName(name)) return name;
  throw new AgentBoxError("box.name_invalid", `"${name.slice(0, 80)}" is not a box name.`, {
    hint: "Use 2 to 48 lower-case letters and digits in words joined by single hyphens, such as team-app-backend.",
  });
}

/** A human name from the project and the agent, numbered when it is taken: shop-claude, shop-claude-2. */
export function proposeName(
  project: string | undefined,
  agent: string,
  isTaken: (name: string) => boolean,
): string {
  const words = `${project ?? "box"} ${agent}`
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  while (words.length > 1 && !/^[a-z]/.test(words[0]!)) words.shift();
  const base = words
    .join("-")
    .slice(0, maxLength - 5)
    .replace(/-+$/, "");
  const stem = isBoxName(base) ? base : `box-${agent}`;
  if (!isTaken(stem)) return stem;
  for (let n = 2; ; n++) {
    const name = `${stem}-${n}`;
    if (!isTaken(name)) return name;
  }
}
