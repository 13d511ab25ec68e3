import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";

const largeBinaryBytes = 1 << 20;

/** The dangers of a change's mode and size, without its content. */
export function fileModes(change: Change): Danger[] {
  const { path, oldMode, newMode, kind, bytes } = change;
  if (kind === "deleted") return [];
  const dangers: Danger[] = [];
  if (newMode === "100755" && oldMode !== "100755") {
    const why =
      oldMode === "100644"
        ? "It becomes executable: a command or a double click can run it from now on."
        : "New executable: a command or a double click can run it.";
    dangers.push({ kind: "executable", path, why });
  } else if (newMode === "100755" && (kind === "copied" || kind === "renamed")) {
    dangers.push({
      kind: "executable",
      path,
      why: "Executable at a new place: another command may run it now.",
    });
  } else if (newMode === "100755" && change.oldId !== change.newId) {
    dangers.push({
      kind: "executable",
      path,
      why: "Changed program: what its command does is different now.",
    });
  }
  if (newMode === "160000") {
    const why =
      oldMode === "160000"
        ? "The submodule moves to another commit: its files are not in this review and arrive at the next update."
        : "New submodule: its files are not in this review and arrive at the next update.";
    dangers.push({ kind: "submodule", path, why });
  }
  if (change.isBinary && bytes > largeBinaryBytes && newMode !== "160000") {
    const size = `${(bytes / (1 << 20)).toFixed(1)} MiB`;
    const why = `${kind === "modified" ? "Changed" : "New"} binary file of ${size}: it cannot be reviewed, and it stays in the history.`;
    dangers.push({ kind: "large_binary", path, why });
  }
  return dangers;
}

/** Programs of machines, by how they begin: Linux, WebAssembly, macOS and Java. */
const programStarts: readonly { readonly start: RegExp; readonly what: string }[] = [
  { start: /^\u007fELF/, what: "program for Linux: it runs as soon as it is made executable" },
  // "MZ" alone could begin a text; a program has bytes that are not text.
  { start: /^MZ[^]{0,62}[\0\ufffd]/u, what: "program for Windows: it runs when it is opened" },
  { start: /^\0asm/, what: "WebAssembly program: it runs where it is loaded" },
  {
    start: /^\ufffd{2,4}(?:[\u0007\u000c]\0\0[\u0001\u0002]|\0\0\0[\u0001-\u007f])/u,
    what: "program for macOS or Java: it runs when it is opened or loaded",
  },
];

/** Programs that need no executable bit, by how they begin. */
export function programContent({ path, oldMode, newMode }: Change, text: string): Danger[] {
  if (newMode === "100755") return [];
  const danger = (why: string): Danger[] => [{ kind: "executable", path, why }];
  const word = oldMode === "000000" ? "New" : "Changed";
  if (text.startsWith("#!")) {
    if (!/(?:^|\/)(?:s?bin|scripts?|tools?|hack|ci)\//i.test(path)) return [];
    return danger(
      `${word} script in a directory of programs: an interpreter runs it when a command names it.`,
    );
  }
  const found = programStarts.find(({ start }) => start.test(text));
  return found ? danger(`${word} ${found.what}.`) : [];
}
