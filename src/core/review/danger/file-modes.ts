import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";

const largeBinaryBytes = 1 << 20;

/** What the mode and the size of a change say, without its content. */
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
    const why = `${kind === "modified" ? "Changed" : "New"} binary file of ${size}: nobody can read it, and it stays in the history.`;
    dangers.push({ kind: "large_binary", path, why });
  }
  return dangers;
}

/** Programs that need no executable bit, by how they begin. */
export function programContent({ path, oldMode, newMode }: Change, text: string): Danger[] {
  if (newMode === "100755" || oldMode !== "000000") return [];
  const danger = (why: string): Danger[] => [{ kind: "executable", path, why }];
  if (text.startsWith("#!")) {
    if (!/(?:^|\/)(?:s?bin|scripts?|tools?|hack|ci)\//i.test(path)) return [];
    return danger("New script in a directory of programs: an interpreter runs it when a command names it.");
  }
  if (text.startsWith("\u007fELF"))
    return danger("New program for Linux: it runs as soon as it is made executable.");
  // "MZ" alone could begin a text; a program has bytes that are none.
  if (text.startsWith("MZ") && /[\0\ufffd]/u.test(text.slice(0, 64))) {
    return danger("New program for Windows: it runs when it is opened.");
  }
  if (text.startsWith("\0asm")) return danger("New WebAssembly program: it runs where it is loaded.");
  return [];
}
