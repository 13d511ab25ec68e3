/**
 * How servers read a path that has one plain reading: many ignore case, parameters, trailing dots, spaces and slashes,
 * or compare Unicode loosely. A permission needs every reading to fit, and a denial fits with any of them.
 */
import { matchGlob } from "./glob.ts";
import { canonicalPath, matchesPath } from "./path-pattern.ts";

/** One segment, folded: in small letters, decoded, without accents and invisible characters. */
interface Segment {
  readonly whole: string;
  /** Without parameters, an NTFS stream, and what file systems and routers trim from the ends. */
  readonly bare: string;
}

/** SECURITY: what Unicode or Windows code pages turn into a slash or a backslash. */
const hiddenSlash = /[/\\\u00a5\u2044\u20a9\u2215\u2216\u2571\u29f5\u29f8\u29f9]/u;
const stream = /::.*$|:[^:]*:\$[a-z_]+$/;
const ends = /^\s+|[\s.+]+$/gu;
/** `.json` and `.git`: many routers serve the same with and without. */
const extension = /(?<=.)\.[a-z0-9]{1,8}$/;
/** Everything from the first dot on: some routers take all of it for the extension. */
const extensions = /(?<=.)\..*$/s;
/** An extension that is no part of a version's number. */
const namedExtension = /(?<=.)\.(?=[a-z0-9]*[a-z])[a-z0-9]{1,8}$/;
/** Scripts of a server that take the rest of the path for the path that is meant. */
const script =
  /.\.(?:php\d?|phtml|f?cgi|pl|py|rb|lua|wsgi|as[hmp]x|asp|axd|svc|cf[cm]|cfml|jsp[ax]?|do|action|dll|exe)$/;
/** SECURITY: ASP.NET takes a segment like "(S(abc))" for a session and reads the path without it. */
const sessionSegment = /^\([a-z]\(/;
/** The short name that Windows gives to a long one. */
const shortName = /^[^~]{1,6}~\d{1,5}(?:\.[^.]{0,3})?$/;

/** Whether a permission for these patterns is one for this request path; undefined when servers disagree about it. */
export function permitsPath(patterns: readonly string[], raw: string): boolean | undefined {
  const path = canonicalPath(raw);
  if (path === undefined) return undefined;
  const folded = patterns.filter((pattern) => matchesPath(pattern, path)).map(foldPattern);
  if (folded.length === 0) return false;
  // SECURITY: "/admin;x.png" is "/admin" to some servers, and must not pass as "*.png".
  const isPermitted = readingsOf(path)?.every((reading) =>
    folded.some((parts) => matchesAll(parts, reading, permitsSegment)),
  );
  return isPermitted === true ? true : undefined;
}

/** Whether a denial of these patterns is one of this request path: some server could read it so. */
export function deniesPath(patterns: readonly string[], raw: string): boolean {
  const path = canonicalPath(raw);
  const readings = path === undefined ? undefined : readingsOf(path);
  if (path === undefined || readings === undefined) return true;
  const all = [...readings, ...readings.flatMap(behindScript)];
  return patterns.some((pattern) => {
    if (matchesPath(pattern, path)) return true;
    const parts = withPathInfo(foldPattern(pattern));
    return all.some((reading) => matchesAll(parts, reading, deniesSegment));
  });
}

/** SECURITY: where a script answers for a whole site, "/index.php/admin" is its "/admin". */
function behindScript(reading: readonly Segment[]): readonly (readonly Segment[])[] {
  const at = reading.findIndex(({ bare }) => script.test(bare));
  if (at === -1 || at === reading.length - 1) return [];
  const rest = reading.slice(at + 1);
  return at === 0 ? [rest] : [rest, [...reading.slice(0, at), ...rest]];
}

/** The whole path, and what is left where an encoded "?" or "#" ends it. Undefined when it has no plain reading. */
function readingsOf(path: string): readonly (readonly Segment[])[] | undefined {
  const decoded = path.split("/").map((segment) => foldText(decodeURIComponent(segment)));
  if (decoded.some((segment) => hiddenSlash.test(segment))) return undefined;
  const whole = decoded.map(readSegment);
  // SECURITY: nothing but dots, spaces and parameters is a dot segment or no segment at all to some server.
  if (whole.some((segment) => segment === undefined)) return undefined;
  const segments = whole as Segment[];
  const cut = decoded.findIndex((segment) => /[?#]/.test(segment));
  if (cut === -1) return [segments.filter(({ whole: text }) => text !== "")];
  const last = readSegment(decoded[cut]!.replace(/[?#].*$/s, ""));
  if (last === undefined) return undefined;
  return [segments, [...segments.slice(0, cut), last]].map((reading) =>
    reading.filter(({ whole: text }) => text !== ""),
  );
}

function readSegment(whole: string): Segment | undefined {
  if (sessionSegment.test(whole)) return undefined;
  const bare = whole.replace(/;.*$/s, "").replace(stream, "").replaceAll(ends, "");
  return bare === "" && whole !== "" ? undefined : { whole, bare };
}

/** SECURITY: NFKD and both cases, because "ſ", "K" and full-width letters are plain letters to loose comparisons. */
const foldText = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/[\p{M}\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0]/gu, "")
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC");

const foldPattern = (pattern: string): string[] =>
  pattern
    .split("/")
    .filter((part) => part !== "")
    .map((part) => foldText(decode(part)));

/** A person's yes may have been to a path that no reader of manifests has seen; such a pattern stays as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** SECURITY: a script is also run by what stands below it: "/secret.php/x". */
function withPathInfo(parts: readonly string[]): readonly string[] {
  const last = parts.at(-1);
  return last !== undefined && extension.test(last) ? [...parts, "**"] : parts;
}

const matchesAll = (
  parts: readonly string[],
  segments: readonly Segment[],
  matches: (part: string, segment: Segment) => boolean,
): boolean => matchGlob(parts, segments, (part) => part === "**", matches);

const matchesText = (part: string, text: string): boolean =>
  matchGlob(part, text, (character) => character === "*", Object.is);

const permitsSegment = (part: string, { whole, bare }: Segment): boolean =>
  part === whole || matchesText(part, bare);

function deniesSegment(part: string, { whole, bare }: Segment): boolean {
  const short = shortName.exec(whole);
  if (short !== null && part.startsWith(whole.slice(0, 2))) return true;
  const stems = [extension, extensions].map((cut) => bare.replace(cut, "").replaceAll(ends, ""));
  if ([whole, bare, ...stems].some((text) => matchesLoosely(part, text))) return true;
  // SECURITY: Git hosts and content negotiation serve "/repo.git" and "/secret.php" by their bare names, too.
  return !part.includes("*") && namedExtension.test(part) && part.replace(namedExtension, "") === bare;
}

/** SECURITY: some object stores and frameworks read a plus sign in a path as a space. */
const matchesLoosely = (part: string, text: string): boolean =>
  matchesText(part, text) || (/[+ ]/.test(part) && matchesText(spaced(part), spaced(text)));
const spaced = (text: string): string => text.replaceAll("+", " ");
