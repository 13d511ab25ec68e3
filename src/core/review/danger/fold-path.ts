/** Characters that HFS+ ignores in a name, and other invisible ones. */
const ignored = new RegExp(
  String.raw`[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]`,
  "gu",
);

/**
 * A path as the least careful file system reads it: case, invisible characters, and dots and spaces at the end of a
 * component make no difference, and a colon begins a stream's name (NTFS). SECURITY: `.VSCode./tasks.json` is
 * `.vscode/tasks.json` on some machines, and is judged as that.
 */
export function foldPath(path: string): string {
  // Most paths of most projects have nothing to fold but case.
  if (/^[ -9;-~]*$/.test(path) && !/[. ](?:\/|$)/.test(path)) return path.toLowerCase();
  return (
    path
      .normalize("NFC")
      .replaceAll(ignored, "")
      // Both ways, because "ſ" is an "s" only to the one and "K" (Kelvin) a "k" only to the other.
      .toUpperCase()
      .toLowerCase()
      .split("/")
      .map((component) => component.replace(/(?<=.):.*$/su, "").replace(/(?<=[^. ])[. ]{1,255}$/u, ""))
      .join("/")
  );
}

/** The last component, folded: what tools look a file up by. */
export const foldedName = (path: string): string => foldPath(path.slice(path.lastIndexOf("/") + 1));
