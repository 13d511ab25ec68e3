/** Which version of its agent a box gets: what its manifest says, then its project's lock, then this host's. */
import { AgentBoxError } from "../../base/errors.ts";
import type { BoxSpec } from "../../contract/box.ts";
import { type LockedAgent, lockFileName, readLock } from "../../contract/lock-file.ts";
import type { LockFile } from "../../contract/tool.ts";
import type { Using } from "../using.ts";
import { findTool } from "./use-tool.ts";
import { getAgent } from "./get-agent.ts";

/** The version is fixed when the box is made, so that a later update changes no box that exists. */
export async function pinAgent(
  core: Using<"agents" | "agentProblems" | "toolStore" | "host">,
  spec: BoxSpec,
  projectDir: string | undefined,
): Promise<BoxSpec> {
  const { name } = spec.agent;
  const { install } = getAgent(core, name);
  if (install.kind === "none") return spec;
  const lock = await readProjectLock(core, projectDir);
  const locked = lock && Object.hasOwn(lock.agents, name) ? lock.agents[name] : undefined;
  const wanted = spec.agent.version ?? locked?.version;
  const { tool } = await findTool(core, name, wanted);
  if (locked && locked.version === tool.version) requireSameContent(locked, tool, name);
  return { ...spec, agent: { ...spec.agent, version: tool.version } };
}

async function readProjectLock(
  core: Using<"host">,
  projectDir: string | undefined,
): Promise<LockFile | undefined> {
  const text =
    projectDir === undefined ? undefined : await core.ports.host.readProjectFile(projectDir, lockFileName);
  return text === undefined ? undefined : readLock(text, `the project's ${lockFileName}`);
}

/** SECURITY: a project's lock names the content; another content under the same version is not what was reviewed. */
function requireSameContent(
  locked: LockedAgent,
  tool: { digest: string; version: string },
  name: string,
): void {
  const platform = `${process.platform}-${process.arch}`;
  if (locked.platform !== platform || locked.digest === tool.digest) return;
  throw new AgentBoxError(
    "tool.tampered",
    `${name} ${tool.version} is not the content that the project's ${lockFileName} names.`,
    {
      hint: `Install it again: agentbox agents add ${name}@${tool.version}; if it still differs, ask who changed the lock.`,
      facts: { expected: locked.digest, found: tool.digest },
    },
  );
}
