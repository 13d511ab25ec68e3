import { foldPath } from "./fold-path.ts";

/** `requirements.txt` by the names that people give it. */
export const requirementsFile =
  /^(?:.*[-_.])?(?:requirements?|requires|reqs?|constraints|deps|dependencies|pip(?:[-_]packages)?)(?:[-_.].*)?\.(?:txt|in)$/;

/**
 * The name by which a list of packages is looked up: its own, or with its directory, such as `requirements/test.txt`.
 */
export function packageListName(path: string): string {
  const [, directory, ending] =
    /(?:^|\/)(requirements|constraints)\/[^/]+\.(txt|in)$/.exec(foldPath(path)) ?? [];
  if (directory !== undefined) return `${directory}.${ending}`;
  const folded = foldPath(path);
  return folded.slice(folded.lastIndexOf("/") + 1);
}
