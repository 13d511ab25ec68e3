/** Paths of requests: one reading or none, and the patterns that rules match them with. */
import { matchGlob } from "./glob.ts";

const maxPath = 8_192;
const visibleAscii = /^[\x21-\x7e]+$/;
const unreserved = /[A-Za-z0-9\-._~]/;
/** A dot segment, also with the parameters that some servers cut off before they look at it. */
const dotSegment = /^\.{1,2}(?:;|$)/;
/** Paths that decode to another encoding, also the one of IIS. */
const doubleEncoding = /%25(?:[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})/;

/**
 * The path of a request target, without its query, in the one form that patterns are matched with.
 *
 * SECURITY: undefined where servers disagree about what is meant, because the path that is judged must be the path
 * that is served: dot segments, empty segments, encoded slashes, backslashes, control characters, double encoding and
 * bytes that are no UTF-8 (a lenient server takes %C0%AE for a dot).
 */
export function canonicalPath(raw: string): string | undefined {
  const [path = ""] = raw.split("?", 1);
  if (path.length > maxPath || !path.startsWith("/") || !visibleAscii.test(path)) return undefined;
  if (/[\\#]|\/\/|%(?![0-9A-Fa-f]{2})/.test(path)) return undefined;
  if (!isUtf8(path)) return undefined;
  const decoded = decodeOnce(path);
  // SECURITY: "%25%32%65" is a percent sign and two digits for one server, and a dot for one that decodes twice.
  if (decoded === undefined || doubleEncoding.test(decoded)) return undefined;
  return decoded.split("/").some((segment) => dotSegment.test(segment)) ? undefined : decoded;
}

function isUtf8(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Decodes what needs no encoding, and spells the rest in upper case. */
function decodeOnce(path: string): string | undefined {
  let isAmbiguous = false;
  const decoded = path.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => {
    const code = Number.parseInt(hex, 16);
    const character = String.fromCharCode(code);
    if (code < 0x20 || code === 0x7f || character === "/" || character === "\\") isAmbiguous = true;
    return unreserved.test(character) ? character : `%${hex.toUpperCase()}`;
  });
  return isAmbiguous ? undefined : decoded;
}

/** Why a path pattern cannot be used; undefined when it can. */
export function pathPatternProblem(pattern: string): string | undefined {
  if (!pattern.startsWith("/")) return 'it does not start with "/"';
  if (/[?#]/.test(pattern)) return "queries and fragments are not matched";
  if (canonicalPath(pattern) !== pattern) return "it is not written as a request's path would be judged";
  const isMixed = pattern.split("/").some((segment) => segment.includes("**") && segment !== "**");
  return isMixed ? '"**" stands for whole segments' : undefined;
}

/** `*` is any text within a segment, `**` any number of segments, none included. The path is canonical. */
export function matchesPath(pattern: string, path: string): boolean {
  return matchGlob(
    pattern.split("/"),
    path.split("/"),
    (part) => part === "**",
    (part, segment) => matchGlob(part, segment, (character) => character === "*", Object.is),
  );
}
