import type { Danger } from "../../../contract/review/danger.ts";
import { addedLines } from "./added-lines.ts";
import { foldedName } from "./fold-path.ts";
import { quoted } from "./sentence.ts";

const maxPerFile = 20;

interface LineRule {
  readonly kind: Danger["kind"];
  readonly pattern: RegExp;
  readonly why: (value: string) => string;
}

const attributes: readonly LineRule[] = [
  {
    kind: "git_settings",
    pattern: /(?:^|\s)(?:filter|merge|textconv)=(\S+)/,
    why: (value) =>
      `Git runs the driver ${quoted(value)}, where one is set up, when it checks out or merges such files.`,
  },
  {
    kind: "git_settings",
    pattern: /\s-?(diff(?:=\S+)?)(?:\s|$)/,
    why: () => "It changes how Git shows such files: a driver runs, or the diff no longer shows them.",
  },
  {
    // A later or a deeper line takes away what keeps files encrypted, large ones apart, or merges honest.
    kind: "git_settings",
    pattern: /\s([-!](?:filter|merge|text|diff)\b\S*)/,
    why: (value) => `With ${quoted(value)} what was set for such files before does not hold for them.`,
  },
];

/** Line endings, blanks and the name of a language: all that an attribute can be about without a look. */
const inertAttribute =
  /^(?:text|text=auto|eol=(?:lf|crlf)|whitespace(?:=\S*)?|[-!]whitespace|linguist-language=\S+|linguist-detectable\S*)$/;

/** SECURITY: attributes can change what is stored, shown, sent and merged, so one that is not known is said. */
function unknownAttribute(line: string): string | undefined {
  const [, names = ""] = /^\s*(?:"(?:[^"\\]|\\.)*"|\S+)\s+(.*)$/.exec(line) ?? [];
  return names.split(/\s+/).find((name) => name !== "" && !inertAttribute.test(name));
}

const modules: readonly LineRule[] = [
  {
    kind: "submodule",
    pattern: /^\s*update\s*=\s*!(.*)/i,
    why: () => "A command that Git is asked to run at the next submodule update.",
  },
  {
    kind: "submodule",
    pattern: /^\s*(?:url|path)\s*=\s*"?(-\S*)/i,
    why: () => "A value that begins with a dash: Git or ssh can take it for an option that runs a command.",
  },
  {
    kind: "submodule",
    pattern: /^\s*url\s*=\s*"?((?:ext|fd)::?.*|[\w-]+::.*)/i,
    why: () => "An address that makes Git run a command or a helper at the next submodule update.",
  },
  {
    kind: "submodule",
    pattern: /^\s*url\s*=\s*"?((?:file:|\/|[a-z]:\\).*)/i,
    why: () => "A submodule from a directory of this machine: its files are not in this review.",
  },
  {
    kind: "submodule",
    pattern: /^\s*url\s*=\s*"?(.*)/i,
    why: (value) =>
      `A submodule from ${quoted(withoutCredentials(value))}: its files arrive at the next submodule update.`,
  },
  {
    kind: "submodule",
    pattern: /^\s*(path\s*=\s*.*(?:\.\.|\.git).*)/i,
    why: () => "A submodule whose path leads out of the tree or into Git's own directory.",
  },
  {
    // A value can go on in the next line, and stand in that of its section.
    kind: "submodule",
    pattern: /^(?!\s*\[[^\]]*\]\s*$)\s*(\S.*)/,
    why: () => "It changes what Git fetches or shows of submodules.",
  },
];

const tables: Readonly<Record<string, readonly LineRule[]>> = {
  ".gitattributes": attributes,
  ".gitmodules": modules,
};

export const hasGitSettings = (path: string): boolean => Object.hasOwn(tables, foldedName(path));

/** Added lines of .gitattributes and .gitmodules that make Git run or fetch something. */
export function gitSettings(path: string, oldText: string | undefined, newText: string): Danger[] {
  const name = foldedName(path);
  const rules = Object.hasOwn(tables, name) ? tables[name]! : [];
  const isAdded = addedLines(oldText, newText);
  const dangers: Danger[] = lostFilters(path, oldText, newText, rules === attributes);
  newText.split("\n").forEach((text, at) => {
    if (dangers.length > maxPerFile || !isAdded(at + 1) || /^\s*[#;]/.test(text)) return;
    const line = text.slice(0, 10_000);
    const found = rules.find(({ pattern }) => pattern.test(line));
    if (found) {
      const value = found.pattern.exec(line)![1]!.trim();
      dangers.push({ kind: found.kind, path, line: at + 1, why: found.why(value) });
      return;
    }
    const unknown = rules === attributes ? unknownAttribute(line) : undefined;
    if (unknown === undefined) return;
    const why = `With ${quoted(unknown)} such files can be hidden in a diff, or differ from what was reviewed.`;
    dangers.push({ kind: "git_settings", path, line: at + 1, why });
  });
  if (dangers.length <= maxPerFile) return dangers;
  const kind = dangers[0]!.kind;
  return [...dangers.slice(0, maxPerFile), { kind, path, why: "More such lines follow in this file." }];
}

/** SECURITY: without the line that names it, a filter no longer keeps what is committed encrypted. */
function lostFilters(
  path: string,
  oldText: string | undefined,
  newText: string,
  isAttributes: boolean,
): Danger[] {
  if (!isAttributes || oldText === undefined) return [];
  const isLost = addedLines(newText === "" ? "\n" : newText, oldText);
  const lost = oldText
    .split("\n")
    .some((line, at) => isLost(at + 1) && /(?:^|\s)filter=/.test(line) && !/^\s*#/.test(line));
  return lost
    ? [
        {
          kind: "git_settings",
          path,
          why: "A filter no longer applies to some files: what it kept encrypted or apart is committed as it is.",
        },
      ]
    : [];
}

const withoutCredentials = (url: string): string => url.replace(/\/\/[^/@]*@/, "//").replace(/[?#].*$/, "");
