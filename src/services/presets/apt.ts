/** The package sources of apt: the repositories of all its source files, in both forms, as apt itself reports them. */
import { type ToolHost, notInstalled } from "./tool-host.ts";

export async function readApt(host: ToolHost): Promise<readonly string[]> {
  const output = await host.ask(["apt-get"], ["indextargets", "--format", "$(REPO_URI)"]);
  if (output === undefined) throw notInstalled("apt");
  return output.split("\n");
}
