/** The pair's name; empty where there is no "=", which makes a cookie without a name. */
export const cookieName = (pair: string): string => pair.slice(0, Math.max(0, pair.indexOf("="))).trim();

/** The `name=value` pairs of a Cookie header, in their order. */
export const cookiePairs = (header: string | undefined): string[] =>
  (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "");

/** The values of one name. A browser sends several when several paths or hosts have set it, the nearest first. */
export const cookieValues = (header: string | undefined, name: string): string[] =>
  cookiePairs(header).flatMap((pair) =>
    cookieName(pair) === name ? [pair.slice(pair.indexOf("=") + 1).trim()] : [],
  );
