import { omitUndefined } from "../../../base/omit-undefined.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import { lineOf } from "./json-text.ts";
import { lockfileReader } from "./lockfile-formats.ts";
import { counted, quoted } from "./sentence.ts";

/**
 * The origin of a package, as short as possible: the host of a registry, and for hosts with many owners the owner and
 * the name too. Credentials, queries and versions are left out. Undefined for a plain version.
 */
function packageSource(value: string): string | undefined {
  const text = value.trim();
  const scp = /^(?:[\w.-]+@)?([\w.-]+\.[a-z]{2,}):(?!\/\/)([\w./~-]+)/i.exec(text);
  if (scp && !/^[a-z]:/i.test(text)) return `${scp[1]!.toLowerCase()}/${repositoryOf(scp[2]!)}`;
  const url = /^([a-z][a-z0-9+.-]{1,20}):\/\/(?:[^\s/@]*@)?([^\s/?#:]*)(?::\d+)?([^\s?#]*)/i.exec(text);
  if (url) return sourceOfUrl(url[1]!.toLowerCase(), url[2]!.toLowerCase(), url[3]!);
  const local = /^(?:file|link|portal|path|patch|exec):(?:\/\/)?(.{0,200})/i.exec(text);
  if (local) return `the directory ${local[1] || "."}`;
  const hosted = /^(github|gitlab|bitbucket|gist):([\w.-]{1,100}(?:\/[\w.-]{1,100})?)/i.exec(text);
  if (hosted) return `${hosted[1]!.toLowerCase()}/${repositoryOf(hosted[2]!)}`;
  const known = /^(workspace|catalog):/i.exec(text)?.[1]?.toLowerCase();
  return known === undefined ? undefined : `the ${known}`;
}

const repositoryOf = (path: string): string =>
  path
    .replace(/^\/+/, "")
    .replace(/\.git(?:$|[@#/].*)/i, "")
    .split("/")
    .slice(0, 2)
    .join("/")
    .toLowerCase();

const everybodysHosts =
  /(?:^|\.)(?:github\.com|githubusercontent\.com|gitlab\.com|bitbucket\.org|codeberg\.org|sr\.ht|gist\.github\.com|amazonaws\.com|googleapis\.com|dropbox\.com)$/;

function sourceOfUrl(scheme: string, host: string, path: string): string {
  if (scheme === "file") return `the directory ${path || "."}`;
  const isRepository = /^git|^ssh|^hg|^svn|^bzr/.test(scheme) || everybodysHosts.test(host);
  const isPlain = scheme === "http" || scheme === "ftp" || scheme === "git" || scheme === "git+http";
  const source = isRepository ? `${host}/${repositoryOf(path)}` : host;
  return isPlain ? `${source} (not encrypted)` : source;
}

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
    // The replacement of a Go module needs no scheme: a directory or another module.
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
