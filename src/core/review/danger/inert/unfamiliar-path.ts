import type { Change } from "../../../../contract/review/change.ts";
import { foldPath } from "../fold-path.ts";
import { type FileClass, isProseName, isUnknownNote, knownFile } from "./extensions.ts";
import { isDataDirectory, isToolDirectory } from "./directories.ts";
import type { TreeFacts } from "./tree-facts.ts";

const isStill: ReadonlySet<FileClass> = new Set(["prose", "media", "page", "data"]);

/** Dot files that are there to be there. */
const placeholders = new Set([".gitkeep", ".keep", ".empty", ".placeholder"]);

/** Notes in dot directories whose readers only copy or show them. */
const notes =
  /^(?:\.changeset\/[^/]+|\.github\/(?:issue_template|pull_request_template|issue_template\/[^/]+|pull_request_template\/[^/]+|contributing|security|support|code_of_conduct))\.md$/;

/** `vitest.config.ts`, `karma.conf.js`, `lighthouserc.js`, `.foorc`, `x.setup.ts`. */
const settingsName = /(?:\.(?:config|conf|setup|workspace|preset)\.[^.]+|.rc|[a-z]{4}rc\.[^.]+)$/;

/** `man/man1/x.1`, and no library `x.so.1`. */
const isManual = (parts: readonly string[], name: string): boolean =>
  /^[^.]+(?:\.[a-z]+)?\.[1-8]$/.test(name) &&
  !name.includes(".so.") &&
  parts.some((part) => /^(?:man\d?|docs?)$/.test(part));

/** Names at the root that are the program itself, in the languages where tools look for scripts there. */
const programName =
  /^(?:index|main|app|server|lib|mod|types|example|examples|demo|__init__|__main__|test|tests)\.[^.]+$|\.d\.[cm]?ts$|[._-](?:test|spec)\.[^.]+$|^test_[^.]+\.py$/;

/**
 * Why a tool may read or run a file on its own, as a clause; undefined for what is known to do nothing by itself. No rule has
 * found it by its name.
 */
export function unfamiliarPath(
  { path: raw, isBinary, kind }: Pick<Change, "path" | "isBinary" | "kind">,
  facts: TreeFacts,
): string | undefined {
  const path = foldPath(raw);
  const rawName = raw.slice(raw.lastIndexOf("/") + 1);
  const parts = path.split("/");
  const name = parts.pop()!;
  if (notes.test(path)) return undefined;
  const hidden = parts.find((part) => part.startsWith("."));
  if (hidden !== undefined) return "it lies in a directory that tools keep their settings in";
  if (placeholders.has(name)) return undefined;
  if (name.startsWith(".")) return "tools look for files with a dot in front by themselves";
  if (settingsName.test(name)) return "its name is that of settings, which can be programs";
  const known = knownFile(name);
  const isInData = parts.some(isDataDirectory);
  if (known === undefined) {
    if (isProseName(name) || isManual(parts, name) || (isInData && !isBinary)) return undefined;
    return "it is of no kind that is known to do nothing by itself";
  }
  const { fileClass, language } = known;
  if (fileClass === "program") return "it is a program, or is loaded as one";
  const isAtTop = facts.isTop(parts.join("/"));
  if (isAtTop && isUnknownNote(rawName)) return "instructions for agents have names like it";
  if (isStill.has(fileClass)) return undefined;
  if (fileClass === "settings") {
    if (isInData && !isAtTop) return undefined;
    return isAtTop
      ? "it is of the form of settings, at the top of a project or a package"
      : "it is of the form of settings, and in no directory of data";
  }
  if (language !== undefined && !facts.hasLanguage(language)) {
    return "the project had no file of this language before";
  }
  const isNew = kind !== "modified" && kind !== "deleted";
  if (isNew && facts.isModuleReplaced(parts, name))
    return "Python programs load it in the place of a module of theirs";
  if (fileClass === "script" && isAmongDocuments(parts, facts)) return "what makes the documents may load it";
  if (isAmongTools(parts, facts)) return "it lies among what the project is built, run and looked after with";
  const isScriptAtTop = fileClass === "script" && isAtTop && !programName.test(name);
  return isScriptAtTop ? "tools look for scripts at the top of a project or a package" : undefined;
}

/** `docs/hooks.py`: documents have plug-ins and settings of their own. */
const isAmongDocuments = (parts: readonly string[], facts: TreeFacts): boolean =>
  parts.some(
    (part, at) => /^(?:docs?|documentation)$/.test(part) && facts.isTop(parts.slice(0, at).join("/")),
  );

/** `scripts/x.js` and `packages/y/config/x.js`, but not `src/config/x.js`. */
const isAmongTools = (parts: readonly string[], facts: TreeFacts): boolean =>
  parts.some((part, at) => isToolDirectory(part) && facts.isTop(parts.slice(0, at).join("/")));
