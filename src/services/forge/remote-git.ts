/**
 * Git that speaks to one other machine, over https alone. It runs in a repository of our own, so no hook, helper,
 * proxy or rewriting that a project's or a person's config names is in force.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { GitConfig } from "../../host/git.ts";
import { gitCommand } from "../../host/git.ts";
import { type RunResult, run } from "../../host/run.ts";
import type { RemoteRepository } from "../../ports/forge.ts";
import { basicOf, quoteSafely } from "./mask.ts";

export interface RemoteGitOptions {
  readonly proxy: string | undefined;
  readonly timeoutMs: number;
}

export async function remoteGit(
  gitDir: string,
  args: readonly string[],
  remote: RemoteRepository,
  { proxy, timeoutMs }: RemoteGitOptions,
): Promise<RunResult> {
  const { protocol, origin } = new URL(remote.url);
  const transport = protocol.slice(0, -1);
  const config: GitConfig = {
    "protocol.file.allow": "never",
    [`protocol.${transport}.allow`]: "always",
    "core.alternateRefsCommand": "false",
    // An empty one drops those that came before.
    "credential.helper": "",
    "http.followRedirects": "false",
    "http.sslVerify": "true",
    "http.proxy": proxy ?? "",
    "http.emptyAuth": "false",
    // A server that says nothing for a minute will say nothing.
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "60",
    "push.gpgSign": "false",
    "push.followTags": "false",
    "push.recurseSubmodules": "no",
    "push.useForceIfIncludes": "false",
    // SECURITY: as a variable, which only we and root can read; every user of the host could read an argument.
    [`http.${origin}/.extraHeader`]: `Authorization: Basic ${basicOf(remote.credential)}`,
  };
  const { argv, ...rest } = gitCommand(args, {
    gitDir,
    cwd: gitDir,
    config,
    env: { GIT_ALLOW_PROTOCOL: transport },
    timeoutMs,
  });
  return await run(argv, { ...rest, maxOutputBytes: 4 << 20 });
}

/** Why a push or a look did not succeed, in words for a person. */
export function remoteFailed({ stderr, timedOut }: RunResult, remote: RemoteRepository): AgentBoxError {
  const { host } = new URL(remote.url);
  const lines = stderr
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(?:hint:|To |error: failed to push)/.test(line));
  const fatal = lines.findLast((line) => /^(?:fatal|error):/.test(line)) ?? lines.at(-1) ?? "";
  const why = timedOut ? "it took too long" : quoteSafely(fatal, remote.credential) || "it gave no reason";
  return new AgentBoxError("push.failed", `${host} did not take it: ${why}.`, {
    hint: hintFor(stderr, host),
  });
}

function hintFor(stderr: string, host: string): string {
  if (/Authentication failed|could not read (?:Username|Password)|error: 40[13]|HTTP 40[13]/.test(stderr))
    return `The secret is not accepted, or may not write there. Keep a new one: agentbox vault rotate NAME`;
  if (/not found|error: 404/i.test(stderr))
    return "Check the remote's address, and that the secret may see the repository.";
  if (/redirect/i.test(stderr))
    return "The repository has moved: set the remote to its new address with git remote set-url.";
  return `Check that ${host} can be reached, then try again.`;
}
