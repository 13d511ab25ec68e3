import { widthOf } from "./style.ts";

/** Columns padded to their widest cell; the last one is left ragged. */
export function renderTable(rows: readonly (readonly string[])[], indent = ""): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    });
  }
  return rows
    .map((row) => {
      const cells = row.map((cell, column) =>
        column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)),
      );
      return `${indent}${cells.join("  ")}`.trimEnd();
    })
    .join("\n");
}

/** Cut in the middle, because both the start and the end of a path say something. */
export function shorten(text: string, width: number): string {
  const characters = Array.from(text);
  if (characters.length <= width) return text;
  const tail = Math.ceil((width - 1) / 2);
  return `${characters.slice(0, width - 1 - tail).join("")}…${characters.slice(-tail).join("")}`;
}

/** `3s`, `12m`, `5h`, `2d`: one unit, because a table is read at a glance. */
export function age(sinceMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** A path below the home directory, the way people write it. */
export const tilde = (path: string, home: string): string =>
  path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
