import { omitUndefined } from "../../../base/omit-undefined.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import { lineOf } from "./json-text.ts";
import { lockfileReader } from "./lockfile-formats.ts";
import { packageSource } from "./package-source.ts";
import { counted, quoted } from "./sentence.ts";

const maxPerFile = 20;

export const namesSources = (path: string): boolean => lockfileReader(path) !== undefined;

/** Places packages come from that the file did not name before. */
export function lockfileSources(path: string, oldText: string | undefined, newText: string): Danger[] {
  const reader = lockfileReader(path);
  if (!reader) return [];
  const now = reader.read(newText);
  if (!now) {
    const why = "It cannot be read: where packages come from at the next install is unknown.";
    return [{ kind: "lockfile_source", path, why }];
  }
  const toSource = (value: string) =>
    // What a Go module is replaced by needs no scheme: a directory or another module.
    reader.isGo ? (packageSource(value) ?? value) : packageSource(value);
  const before = new Set(
    (oldText === undefined ? [] : (reader.read(oldText) ?? [])).map(({ value }) => toSource(value)),
  );
  const fresh = new Map<string, string>();
  for (const { value, needle } of now) {
    const source = toSource(value);
    if (source !== undefined && !before.has(source) && !fresh.has(source)) fresh.set(source, needle);
  }
  const dangers = [...fresh].slice(0, maxPerFile).map(([source, needle]): Danger => {
    const line = lineOf(newText, needle);
    const why = `New source of packages, ${quoted(source)}: code from there is fetched and can run at the next install.`;
    return { kind: "lockfile_source", path, ...omitUndefined({ line }), why };
  });
  if (fresh.size > maxPerFile) {
    const why = `${counted(fresh.size - maxPerFile, "more new source")} of packages in this file.`;
    dangers.push({ kind: "lockfile_source", path, why });
  }
  return dangers;
}
