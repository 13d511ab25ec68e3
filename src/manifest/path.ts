/** Where a value is: keys of tables and indexes of arrays, outermost first. */
export type Path = readonly (string | number)[];

const bareKey = /^[A-Za-z0-9_-]+$/;

/** `["mounts", 0, "target"]` → `mounts[0].target`; keys that TOML would quote are quoted. */
export function formatPath(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += `${text === "" ? "" : "."}${bareKey.test(part) ? part : JSON.stringify(part)}`;
  }
  return text;
}

/** `mounts[0].target`, `mounts.0.target`, `env."A.B"` → its parts; undefined when it is not a path. */
export function parsePath(text: string): Path | undefined {
  const parts: (string | number)[] = [];
  const pattern = /(?:^|\.)(?:"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_-]+))|\[(\d{1,6})\]/gy;
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (!match) return undefined;
    const [, quoted, bare, index] = match;
    if (index !== undefined) parts.push(Number(index));
    else if (bare !== undefined)
      parts.push(parts[0] === "mounts" && /^\d{1,6}$/.test(bare) ? Number(bare) : bare);
    else parts.push((quoted ?? "").replaceAll(/\\(.)/g, "$1"));
  }
  return parts.length > 0 ? parts : undefined;
}
