import { TomlError, parse } from "smol-toml";
import { printable } from "../../base/printable.ts";
import { type Finding, type Problem, positionProblem } from "../finding.ts";
import { findHiddenInFile } from "./hidden-text.ts";
import { findUnsafeValue } from "./raw-values.ts";
import { TomlPositions, indexToml } from "./toml-positions.ts";

export const maxFileBytes = 256 * 1024;
const maxInlineDepth = 32;

export interface TomlDocument {
  /** Absent when the text cannot be read or is not safe to look at further. */
  readonly values?: Record<string, unknown>;
  readonly positions: TomlPositions;
  readonly findings: readonly Finding[];
}

/** From text to plain values and their positions. All of the text is hostile; nothing is thrown. */
export function readToml(text: string): TomlDocument {
  const nowhere = new TomlPositions();
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > maxFileBytes) {
    const problem: Problem = {
      code: "E002",
      path: [],
      message: `The file has ${bytes} bytes, and at most ${maxFileBytes} are read.`,
      hint: "Move long scripts into files of the repository and call them.",
    };
    return { positions: nowhere, findings: [positionProblem(problem, nowhere)] };
  }
  const hidden = hiddenFinding(text);
  const parsed = parseText(text);
  if ("finding" in parsed) return { positions: nowhere, findings: [...hidden, parsed.finding] };
  const positions = indexToml(text);
  const unsafe = findUnsafeValue(parsed.values);
  if (unsafe) return { positions, findings: [...hidden, positionProblem(unsafe, positions)] };
  return { values: parsed.values, positions, findings: hidden };
}

function hiddenFinding(text: string): Finding[] {
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const hidden = findHiddenInFile(text.slice(start));
  if (!hidden) return [];
  const before = text.slice(0, start + hidden.index);
  return [
    {
      code: "E003",
      severity: "error",
      path: "",
      line: before.split("\n").length,
      column: before.length - (before.lastIndexOf("\n") + 1) + 1,
      message: `The file contains the hidden character ${hidden.name}.`,
      hint: "Remove it; a person cannot see what it does to the text around it.",
    },
  ];
}

function parseText(text: string): { values: Record<string, unknown> } | { finding: Finding } {
  try {
    return { values: parse(text, { maxDepth: maxInlineDepth }) };
  } catch (error) {
    const isToml = error instanceof TomlError;
    const reason = isToml ? firstLine(error.message) : "it cannot be parsed";
    const isTwice = /redefine/.test(reason);
    const isDeep = /depth|nest/.test(reason);
    return {
      finding: {
        code: isTwice ? "E004" : isDeep ? "E005" : "E001",
        severity: "error",
        path: "",
        line: isToml ? error.line : 1,
        column: isToml ? error.column : 1,
        message: isTwice
          ? "A key or table is defined here for the second time."
          : isDeep
            ? "Tables or arrays are nested too deeply here."
            : `This is not valid TOML: ${printable(reason)}.`,
        hint: isTwice ? "Keep one of the two." : "Correct the text at this place.",
      },
    };
  }
}

const firstLine = (message: string): string =>
  message
    .replace(/^Invalid TOML document: /, "")
    .split("\n", 1)[0]!
    .slice(0, 200);
