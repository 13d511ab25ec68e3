import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import { foldPath } from "./fold-path.ts";
import { hiddenCharacter } from "./hidden-character.ts";
import { hasLookalike } from "./lookalikes.ts";
import { counted } from "./sentence.ts";

const maxPathBytes = 1024;
const maxComponentBytes = 255;
export const maxDepth = 64;

const windowsDevice = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:[. ].*)?$/iu;
/** `GIT~1` is the short name that NTFS gives to `.git`, `VSCODE~1` that of `.vscode`, `GI7EBA~1` that of `.gitmodules`. */
const shortName = /^[^.~]{1,6}~[0-9]{1,6}(?:\.[^.]{0,3})?$/u;

/** Exact when it can be more than `limit`; encoding every name of a large change would cost more than all else. */
const bytesOf = (text: string, limit: number): number =>
  text.length * 3 > limit ? new TextEncoder().encode(text).length : text.length;

interface Trick {
  readonly has: (component: string) => boolean;
  readonly why: string;
}

const tricks: readonly Trick[] = [
  {
    has: (name) => name !== ".git" && foldPath(name) === ".git",
    why: 'A part of the path means ".git" on macOS or Windows: Git would take it for its own directory.',
  },
  {
    has: (name) => name === ".git",
    why: 'The path leads into ".git": Git would take it for its own directory.',
  },
  {
    has: (name) => shortName.test(name),
    why: "A part of the path is a short name on Windows, which can be that of another file or directory.",
  },
  {
    has: (name) => name === "." || name === ".." || name === "",
    why: "The path has parts that lead elsewhere: it can be written outside the repository.",
  },
  { has: (name) => name.includes("\\"), why: "The path has a backslash: on Windows it names another place." },
  {
    has: (name) => name.includes(":"),
    why: "The path has a colon: on Windows it names a drive or a hidden stream of another file.",
  },
  {
    has: (name) => /[. ]$/.test(name) && !/^\.{1,2}$/.test(name),
    why: "A part of the path ends in a dot or a space, which Windows drops: it names another file there.",
  },
  {
    has: (name) => windowsDevice.test(name),
    why: "The path is the name of a device on Windows and breaks there.",
  },
  {
    has: (name) => /[\u0000-\u001f\u007f-\u009f]/u.test(name),
    why: "The path has control characters: a terminal or a script that prints it can be made to do other things.",
  },
  {
    has: (name) => name.startsWith("-"),
    why: "A part of the path begins with a dash: a command that is given it can take it for an option.",
  },
  {
    has: hasLookalike,
    why: "A part of the path has letters, signs or blanks that look like others: it is another name than it seems.",
  },
  {
    has: (name) => bytesOf(name, maxComponentBytes) > maxComponentBytes,
    why: `A part of the path is longer than ${maxComponentBytes} bytes: most file systems cannot hold it.`,
  },
];

/** The faults of one path that will exist after the merge. */
export function pathTricks({ path, rawPath, kind }: Change): Danger[] {
  if (kind === "deleted") return [];
  const danger = (why: string): Danger => ({ kind: "path_trick", path, why });
  const dangers: Danger[] = [];
  const components = path.split("/");
  const bytes = bytesOf(path, maxPathBytes);
  if (bytes > maxPathBytes)
    dangers.push(danger(`The path is ${bytes} bytes long: many programs cannot open it.`));
  if (components.length > maxDepth) {
    dangers.push(
      danger(`The path is ${counted(components.length, "level")} deep: many programs cannot reach it.`),
    );
  }
  if (rawPath !== undefined)
    dangers.push(danger("The path is not valid UTF-8: what is shown is not its name."));
  const unique = new Set(components);
  for (const { has, why } of tricks) {
    for (const component of unique) {
      if (!has(component)) continue;
      dangers.push(danger(why));
      break;
    }
  }
  const hidden = hiddenCharacter(path);
  if (hidden) dangers.push(danger(`The path has a character that cannot be seen (${hidden.name}).`));
  return dangers;
}
