/** Which installed version a text means. Pure; what cannot be read means no version in particular. */

const parts = (version: string): string[] =>
  version.replace(/^(?:v|go|node-|ruby-)(?=\d)/, "").split(/[.\-_+]/);

function compare(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [one = "", other = ""] = [left[at], right[at]];
    const difference = Number(one) - Number(other);
    if (Number.isNaN(difference) ? one !== other : difference !== 0)
      return Number.isNaN(difference) ? (one < other ? -1 : 1) : difference;
  }
  return 0;
}

const startsWith = (version: string, wanted: readonly string[]): boolean =>
  wanted.every((part, at) => parts(version)[at] === part);

const newest = (versions: readonly string[]): string | undefined => versions.toSorted(compare).at(-1);

/** The prefix of versions that a range allows, in the common forms of package.json and pyproject.toml. */
function prefixOf(wanted: string): readonly string[] | undefined {
  const [, sign = "", number = ""] = /^(\^|~=?|==?)?\s*v?(\d+(?:\.(?:\d+|x|\*))*)$/.exec(wanted) ?? [];
  if (number === "") return undefined;
  const all = number.split(".").filter((part) => /^\d+$/.test(part));
  if (sign === "^") return all.slice(0, 1);
  return sign.startsWith("~") ? all.slice(0, Math.max(1, Math.min(2, all.length))) : all;
}

export function chooseVersion(
  wanted: string | undefined,
  installed: readonly string[],
  preferred?: string,
): string | undefined {
  const own = preferred === undefined || preferred === "" ? undefined : pick(preferred, installed);
  if (wanted === undefined || wanted === "") return own;
  return pick(wanted.trim(), installed, own);
}

function pick(wanted: string, installed: readonly string[], own?: string): string | undefined {
  if (wanted === "system") return undefined;
  if (installed.includes(wanted)) return wanted;
  if (/^(?:node|latest|lts|lts\/.*)$/.test(wanted)) {
    const even = installed.filter((version) => Number(parts(version)[0]) % 2 === 0);
    return newest(wanted.startsWith("lts") ? even : installed);
  }
  const least = /^>=?\s*v?(\d+(?:\.\d+)*)/.exec(wanted)?.[1];
  if (least !== undefined) {
    const enough = installed.filter((version) => compare(version, least) >= 0);
    return own !== undefined && enough.includes(own) ? own : newest(enough);
  }
  const prefix = prefixOf(wanted) ?? parts(wanted);
  const matching = installed.filter((version) => startsWith(version, prefix));
  return own !== undefined && matching.includes(own) ? own : newest(matching);
}
