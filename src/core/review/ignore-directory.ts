/** A person's answer to a directory that a tool has filled: it is ignored from now on, in the work itself. */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { boxPaths } from "../../contract/box.ts";
import { execInBox, lastLine } from "../exec/exec-in-box.ts";
import type { ReviewParts, Using } from "../using.ts";
import { withLink } from "./quiet-box.ts";
import { readReview } from "./read-review.ts";
import { hasRepository } from "./review-of.ts";

const timeoutMs = 60_000;

/**
 * $1: "git" where the workspace is a repository. $2: the directory. $3: the line for `.gitignore`. What the agent has committed is
 * taken out of the index, too, or git would go on with it. A constant: nothing that varies is part of it.
 */
const script = `
set -e
cd ${boxPaths.workspace}
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
if ! grep -qxF -e "$3" .gitignore 2>/dev/null; then
  if [ -s .gitignore ] && [ -n "$(tail -c 1 .gitignore)" ]; then echo >> .gitignore; fi
  printf '%s\\n' "$3" >> .gitignore
fi
if [ "$1" = git ]; then
  GIT_LITERAL_PATHSPECS=1 git -c core.hooksPath=/dev/null -c core.fsmonitor=false rm -r -q --cached --ignore-unmatch -- "$2"
fi
`;

/** Only what a review asks about: a person who ignores by name must not drop the agent's own files. */
export async function ignoreDirectory(
  core: Using<ReviewParts>,
  name: string,
  { path, who }: { readonly path: string; readonly who: string },
): Promise<void> {
  const { dangers } = await readReview(core, name, {}, { takes: true });
  if (!dangers.some((danger) => danger.kind === "installed" && danger.path === path))
    throw new AgentBoxError("input.invalid", `${printable(path)} is no directory that a tool has filled.`, {
      hint: `See which ones there are: agentbox diff ${name} --stat`,
    });
  await withLink(core, name, async (box, link) => {
    const mode = hasRepository(box) ? "git" : "plain";
    const argv = ["/bin/sh", "-c", script, "ignore", mode, path, ignoreLine(path)];
    const { code, output } = await execInBox(link, { argv, timeoutMs });
    if (code === 0) return;
    throw new AgentBoxError(
      "review.failed",
      `${printable(path)} could not be ignored: ${printable(lastLine(output)).slice(0, 300)}.`,
      {
        hint: `Do it there: agentbox exec ${name} -- sh`,
      },
    );
  });
  await core.note("review.ignored", await core.getBox(name), { path, who });
}

/** As git reads it: from the top, a directory, and no character with a meaning. */
const ignoreLine = (path: string): string => `/${path.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)}/`;
