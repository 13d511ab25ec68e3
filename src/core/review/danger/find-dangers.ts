import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import type { SecretFinding, SecretScan } from "../../../ports/secret-scan.ts";
import { CollisionsWithRest, caseCollisions } from "./case-collisions.ts";
import type { ContentRule } from "./content/content-rule.ts";
import { contentRules } from "./content/index.ts";
import { dangerList } from "./danger-list.ts";
import { dangerousNames } from "./dangerous-names.ts";
import { fileModes, programContent } from "./file-modes.ts";
import { foldedName } from "./fold-path.ts";
import { gitSettings, hasGitSettings } from "./git-settings.ts";
import { suspect } from "./hidden-character.ts";
import { hiddenText } from "./hidden-text.ts";
import { TreeFacts } from "./inert/tree-facts.ts";
import type { InstalledDirectories } from "./installed-directories.ts";
import { lockfileSources, namesSources } from "./lockfile-sources.ts";
import { hasScripts, packageScripts } from "./package-scripts.ts";
import { pathTricks } from "./path-tricks.ts";
import { counted } from "./sentence.ts";
import { symlink } from "./symlinks.ts";
import { unfamiliar } from "./unfamiliar.ts";
import { addedLines } from "./added-lines.ts";

const maxPerFile = 20;

/** Secrets that at least one added line is a part of. */
function secrets(
  { path }: Change,
  oldText: string | undefined,
  newText: string,
  findings: readonly SecretFinding[],
): Danger[] {
  if (findings.length === 0) return [];
  const isAdded = addedLines(oldText, newText);
  const added = findings.filter(({ line, endLine }) => {
    for (let at = line; at <= endLine; at += 1) if (isAdded(at)) return true;
    return false;
  });
  const dangers: Danger[] = added.slice(0, maxPerFile).map(({ line, what }) => ({
    kind: "secret",
    path,
    line,
    why: `The line looks like it holds a secret (${what}): it is in the history for everyone once it is merged.`,
  }));
  if (added.length > maxPerFile) {
    const why = `The file looks like it holds ${counted(added.length - maxPerFile, "more secret")}.`;
    dangers.push({ kind: "secret", path, why });
  }
  return dangers;
}

const maxFileChars = 1 << 20;
const maxTotalChars = 64 << 20;

type ContentReader = (change: Change) => Promise<string | undefined>;

/** Reads contents as long as there is room, so that no change makes a review slow or large. */
class ContentBudget {
  #left = maxTotalChars;

  /** Whether the new content of a change fits; what does not must be named in the list. */
  claim(change: Change): boolean {
    if (change.bytes > maxFileChars || change.bytes > this.#left) return false;
    this.#left -= change.bytes;
    return true;
  }

  /** Undefined when it could not be read, or is longer than was said. */
  async read(reader: ContentReader, change: Change): Promise<string | undefined> {
    const text = await reader(change).catch(() => undefined);
    return text !== undefined && text.length <= maxFileChars ? text : undefined;
  }

  /** The old content has no size before it is read. */
  async readOld(reader: ContentReader, change: Change): Promise<string | undefined> {
    const text = this.#left > 0 ? await this.read(reader, change) : undefined;
    this.#left -= text?.length ?? 0;
    return text;
  }
}

export interface DangerInput {
  readonly changes: readonly Change[];
  /** The whole content, or undefined when it is missing or too large; of a link, its target. */
  readonly oldContent: ContentReader;
  readonly newContent: ContentReader;
  readonly scan: SecretScan["scan"];
  /** Every path there is after the changes. */
  readonly paths: () => AsyncIterable<string>;
  /** Of the whole tree, where the changes and paths are a part of it. */
  readonly facts?: TreeFacts | undefined;
  /** Directories that are asked about as a whole; without it, every danger is listed. */
  readonly installed?: InstalledDirectories | undefined;
}

/** Read side by side: enough to keep the scanner's batches full, few enough to keep in memory. */
const filesAtOnce = 128;
/** A scanner that fails this often is not asked again. */
const maxScanFailures = 8;

/** The changes that will run, or widen an agent's power, once they are merged; the most severe first. */
export async function findDangers(input: DangerInput): Promise<readonly Danger[]> {
  const { changes } = input;
  const rest = new CollisionsWithRest(changes);
  const facts = input.facts ?? new TreeFacts(changes);
  for await (const path of input.paths()) {
    rest.see(path);
    facts.see(path);
  }
  const found: Danger[] = [...caseCollisions(changes), ...rest.dangers()];
  for (const change of changes) {
    found.push(...dangerousNames(change), ...pathTricks(change), ...fileModes(change));
    found.push(...unfamiliar(change, facts));
  }
  const contents = new Contents(input);
  const isInstalled = ({ path }: Change): boolean => input.installed?.of(path) !== undefined;
  // Files with rules of their own first, so that a flood of others does not use up what may be read; what was installed last.
  const special = new Set(changes.filter(hasOwnRules));
  const ordered = [...special, ...changes.filter((change) => !special.has(change))]
    .filter(hasContent)
    .sort((a, b) => Number(isInstalled(a)) - Number(isInstalled(b)));
  for (let at = 0; at < ordered.length; at += filesAtOnce) {
    const wave = ordered.slice(at, at + filesAtOnce);
    found.push(...(await Promise.all(wave.map((change) => contents.judge(change)))).flat());
  }
  const all = withoutRepeats([...found, ...contents.unread()]);
  return dangerList(input.installed?.fold(all) ?? all);
}

/** A file that is known to be a program is not unfamiliar as well: that would be a second look at the same thing. */
function withoutRepeats(found: readonly Danger[]): Danger[] {
  const programs = new Set(found.filter(({ kind }) => kind === "executable").map(({ path }) => path));
  return found.filter(({ kind, path }) => kind !== "unfamiliar" || !programs.has(path));
}

const hasContent = ({ kind, newMode }: Change): boolean =>
  kind !== "deleted" && newMode !== "160000" && newMode !== "000000";

const hasOwnRules = ({ path, newMode }: Change): boolean =>
  newMode === "120000" || hasScripts(path) || namesSources(path) || hasGitSettings(path);

/** `notes.txt` that becomes `notes.go`: what was text before is read by another tool now. */
const isOtherKind = ({ path, oldPath, kind }: Change): boolean =>
  kind === "renamed" && oldPath !== undefined && endingOf(oldPath) !== endingOf(path);

export const endingOf = (path: string): string => /\.[^.]*$/.exec(foldedName(path))?.[0] ?? "";

/** The old content as far as a rule can compare with it: a file of another kind has none that it could read. */
function previous(rule: ContentRule, change: Change, old: string | undefined): string | undefined {
  const { path, oldPath } = change;
  if (oldPath === undefined || oldPath === path || foldedName(oldPath) === foldedName(path)) return old;
  return rule.isByName || isOtherKind(change) ? undefined : old;
}

const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);

/** The rules that look into files. */
class Contents {
  readonly #input: DangerInput;
  readonly #budget = new ContentBudget();
  readonly #unread: Change[] = [];
  readonly #unscanned: Change[] = [];

  constructor(input: DangerInput) {
    this.#input = input;
  }

  async judge(change: Change): Promise<Danger[]> {
    const isSame = change.oldId === change.newId;
    // Moved or made executable as it was: nothing was added, and only its name can have made it dangerous.
    if (isSame && !hasOwnRules(change) && !isOtherKind(change)) return [];
    const text = this.#budget.claim(change)
      ? await this.#budget.read(this.#input.newContent, change)
      : undefined;
    if (change.newMode === "120000") return symlink(change, text);
    if (text === undefined) {
      this.#unread.push(change);
      return this.#unknown(change);
    }
    const findings = isSame ? [] : await this.#scan(change, text);
    const rules = change.isBinary ? [] : contentRules.filter((rule) => rule.mayFind(change.path, text));
    const isJudgedByOld =
      hasOwnRules(change) || findings.length > 0 || rules.length > 0 || suspect.test(text);
    const wasFile = change.oldMode.startsWith("100") && change.kind !== "copied";
    const old =
      wasFile && isJudgedByOld ? await this.#budget.readOld(this.#input.oldContent, change) : undefined;
    return [
      ...this.#byName(change, old, text),
      ...(isSame ? [] : programContent(change, text)),
      ...(isSame ? [] : hiddenText(change, old, text)),
      ...secrets(change, old, text, findings),
      ...rules.flatMap((rule) => rule.find(change.path, previous(rule, change, old), text)),
    ];
  }

  #byName(change: Change, old: string | undefined, text: string): Danger[] {
    const { path, oldPath } = change;
    const before = (applies: (path: string) => boolean) => (applies(oldPath ?? path) ? old : undefined);
    // Attributes and submodules are of the directory that the file lies in.
    const isElsewhere = oldPath !== undefined && directoryOf(oldPath) !== directoryOf(path);
    return [
      ...(hasScripts(path) ? packageScripts(path, before(hasScripts), text) : []),
      ...(namesSources(path) ? lockfileSources(path, before(namesSources), text) : []),
      ...(hasGitSettings(path)
        ? gitSettings(path, isElsewhere ? undefined : before(hasGitSettings), text)
        : []),
    ];
  }

  async #scan(change: Change, text: string): Promise<readonly SecretFinding[]> {
    if (this.#unscanned.length < maxScanFailures) {
      const findings = await this.#input.scan(text, change.path).catch(() => undefined);
      if (findings) return findings;
    }
    this.#unscanned.push(change);
    return [];
  }

  /** Rules that would have applied to a file that was not read. */
  #unknown({ path }: Change): Danger[] {
    const danger = (kind: Danger["kind"], what: string): Danger => ({
      kind,
      path,
      why: `It is too large or could not be read: ${what} is unknown.`,
    });
    return [
      ...(hasScripts(path) ? [danger("package_script", "which scripts it adds")] : []),
      ...(namesSources(path) ? [danger("lockfile_source", "where packages come from")] : []),
      ...(hasGitSettings(path) ? [danger("git_settings", "what Git runs or fetches because of it")] : []),
    ];
  }

  /** Files that were not examined are named, because silence would read as "nothing found". */
  unread(): Danger[] {
    const say = (changes: readonly Change[], why: string): Danger[] =>
      changes[0]
        ? [{ kind: "secret", path: changes[0].path, why: `${why}${andOthers(changes.length)}` }]
        : [];
    return [
      ...say(
        this.#unread,
        "Too large or unreadable, so not searched for secrets, hidden characters and orders to tools",
      ),
      ...say(this.#unscanned, "The search for secrets failed"),
    ];
  }
}

const andOthers = (count: number): string =>
  count > 1 ? `; the same for ${counted(count - 1, "other file")}.` : ".";
