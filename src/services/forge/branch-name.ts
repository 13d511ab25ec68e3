/** SECURITY: a branch becomes an argument of git and a part of URLs; what could be an option or a pattern is refused. */
import { AgentBoxError } from "../../base/errors.ts";

export function requireBranchName(name: string): string {
  if (isBranchName(name)) return name;
  throw new AgentBoxError("push.refused", `${JSON.stringify(name.slice(0, 100))} is no name of a branch.`, {
    hint: "Use letters, digits and . _ + - with / between the parts.",
  });
}

/** Narrower than git's own rule: what a shell, a URL or a refspec could read differently is not in it. */
const isBranchName = (name: string): boolean =>
  name.length <= 244 &&
  /^[A-Za-z0-9_][\w.+#@=-]*(?:\/[A-Za-z0-9_][\w.+#@=-]*)*$/.test(name) &&
  !/\.\.|@\{|\.lock(?:\/|$)|\.(?:\/|$)/.test(name) &&
  !/^(?:HEAD|refs\/.*)$/i.test(name);
