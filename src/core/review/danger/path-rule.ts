import type { DangerKind } from "../../../contract/review/danger.ts";

/** Files that are dangerous by their name alone. */
export interface PathRule {
  readonly kind: DangerKind;
  /**
   * Matched at any depth and in any case: `name` is a file, `dir/**` is all below a directory, `*` is a part of one
   * component.
   */
  readonly globs: readonly string[];
  /** A noun, such as "Git hook". */
  readonly what: string;
  /** The effect and its time, as a clause: "Git runs it at the next commit". */
  readonly effect: string;
}

interface Compiled {
  readonly rule: PathRule;
  readonly pattern: RegExp;
}

const star = (text: string) =>
  text
    .split("*")
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join("[^/]*");

function compile(glob: string): RegExp {
  const below = glob.endsWith("/**");
  const body = glob
    .slice(0, below ? -3 : undefined)
    .split("/")
    .map(star)
    .join("/");
  return new RegExp(`(?:^|/)${body}${below ? "/." : "$"}`, "u");
}

/**
 * Finds the rules for a path that `foldPath` has folded. Thousands of paths meet hundreds of globs, so a glob is
 * looked up by its first component or its ending and only tried where that occurs.
 */
export class PathRules {
  readonly #byComponent = new Map<string, Compiled[]>();
  /** Of globs like `*.gradle.kts`, by what follows the star. */
  readonly #byEnding = new Map<string, PathRule[]>();
  readonly #others: Compiled[] = [];

  constructor(rules: readonly PathRule[]) {
    for (const rule of rules) {
      for (const glob of rule.globs) {
        const first = glob.split("/", 1)[0]!;
        const compiled = { rule, pattern: compile(glob) };
        if (/^\*\.[^*/]+$/.test(glob)) append(this.#byEnding, glob.slice(1), rule);
        else if (first.includes("*")) this.#others.push(compiled);
        else append(this.#byComponent, first, compiled);
      }
    }
  }

  /** At most one rule of each kind. */
  find(folded: string): PathRule[] {
    const found = new Map<DangerKind, PathRule>();
    const attempt = ({ rule, pattern }: Compiled) => {
      if (!found.has(rule.kind) && pattern.test(folded)) found.set(rule.kind, rule);
    };
    for (const component of new Set(folded.split("/"))) this.#byComponent.get(component)?.forEach(attempt);
    const name = folded.slice(folded.lastIndexOf("/") + 1);
    for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
      for (const rule of this.#byEnding.get(name.slice(dot)) ?? []) {
        if (!found.has(rule.kind)) found.set(rule.kind, rule);
      }
    }
    this.#others.forEach(attempt);
    return [...found.values()];
  }
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
