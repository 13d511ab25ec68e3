/** The words that work lands with when a person gives none. */
import type { Box } from "../../contract/box.ts";
import { isPlainMessage } from "./danger/commit-message.ts";

type Subjects = readonly { readonly subject: string }[];

/** SECURITY: none that CI or a forge obeys, without a person's look at them. */
export const plainOnly = (commits: Subjects): Subjects =>
  commits.filter(({ subject }) => isPlainMessage(subject));

/** The agent's own words where it has made one commit, its task otherwise. */
export function messageFor(box: Box, commits: Subjects): string {
  const [only, ...more] = commits;
  if (only && more.length === 0) return only.subject;
  const task = box.run?.task?.split("\n")[0]?.slice(0, 72);
  const list = commits.map(({ subject }) => `- ${subject}`).join("\n");
  return [task ?? `Work of ${box.spec.agent.name} in ${box.name}`, ...(list === "" ? [] : ["", list])].join(
    "\n",
  );
}
