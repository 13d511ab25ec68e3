/**
 * Matching with one kind of wildcard, over characters or over segments. It goes back to the last wildcard only, so a
 * hostile text costs at most its length times the pattern's.
 */
export function matchGlob<P, T>(
  pattern: ArrayLike<P>,
  text: ArrayLike<T>,
  isStar: (part: P) => boolean,
  matches: (part: P, item: T) => boolean,
): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (p < pattern.length && isStar(pattern[p]!)) {
      star = p++;
      resume = t;
    } else if (p < pattern.length && matches(pattern[p]!, text[t]!)) {
      p++;
      t++;
    } else if (star !== -1) {
      p = star + 1;
      t = ++resume;
    } else return false;
  }
  while (p < pattern.length && isStar(pattern[p]!)) p++;
  return p === pattern.length;
}
