import type { UsageAnswer } from "../../../src/contract/api/schemas.ts";

type Group = UsageAnswer["groups"][number];

const columns: readonly (readonly [string, (group: Group) => string | number])[] = [
  ["requests", ({ totals }) => totals.requests],
  ["input_tokens", ({ totals }) => totals.usage.input],
  ["output_tokens", ({ totals }) => totals.usage.output],
  ["cached_tokens", ({ totals }) => totals.usage.cached],
  ["cache_write_tokens", ({ totals }) => totals.usage.cacheWrite],
  ["reasoning_tokens", ({ totals }) => totals.usage.reasoning],
  ["cost_usd", ({ totals }) => (totals.costMicroUsd / 1e6).toFixed(6)],
  ["unpriced_requests", ({ totals }) => totals.unpriced],
  ["estimated_requests", ({ totals }) => totals.estimated],
];

/**
 * SECURITY: names of models and projects come from boxes and repositories. A spreadsheet takes a cell that begins with
 * one of these for a formula and runs it, so such a cell is made a text.
 */
function cell(value: string | number): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 4180, one line a group. */
export function usageCsv(by: string, groups: readonly Group[]): string {
  const head = [by, ...columns.map(([name]) => name)];
  const rows = groups.map((group) => [group.key, ...columns.map(([, read]) => read(group))]);
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Hands a text to the browser's own download. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
