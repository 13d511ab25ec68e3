/** The manifest of a directory, found the way the command line finds it. */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Using } from "../using.ts";

export const manifestName = "agentbox.toml";

export interface FoundProject {
  /** Where the manifest lies; without one, the directory that was named. */
  readonly dir: string;
  readonly manifest?: { readonly file: string; readonly text: string };
}

const parentOf = (dir: string): string => dir.slice(0, dir.lastIndexOf("/")) || "/";
const join = (dir: string, name: string): string => `${dir === "/" ? "" : dir}/${name}`;

/** Ends at the root of the repository and at the home directory: what lies above belongs to something else. */
export async function findProject(core: Using<"host">, named: string): Promise<FoundProject> {
  const { host } = core.ports;
  const start = named.startsWith("/") ? await host.realPath(named) : undefined;
  // The use case that makes the box reports that the file does not exist.
  if (start === undefined) return { dir: named };
  for (let dir = start; ; dir = parentOf(dir)) {
    const file = join(dir, manifestName);
    const text = await host.readProjectFile(dir, manifestName);
    if (text !== undefined) return { dir, manifest: { file, text } };
    // SECURITY: a link or a pipe in place of the manifest is no reason to go on without one.
    if ((await host.realPath(file)) !== undefined) throw unreadable(file);
    const isEnd =
      dir === host.userHome || dir === "/" || (await host.realPath(join(dir, ".git"))) !== undefined;
    if (isEnd) return { dir: start };
  }
}

const unreadable = (file: string): AgentBoxError =>
  new AgentBoxError("file.failed", `${printable(file)} cannot be read: it is no ordinary file.`, {
    hint: "Put a plain file there, or make the box with the command line in that directory.",
  });
