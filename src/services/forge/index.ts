/**
 * Forges, from the host: git over https, and the API for pull requests. One credential for one call; it is in no
 * argument, no file and no message, and goes to the host of the repository only. Redirects are not followed.
 */
import { openApi } from "./api-call.ts";
import { findRemote } from "./find-remote.ts";
import { openGitea } from "./gitea.ts";
import { openGithub } from "./github.ts";
import { openGitlab } from "./gitlab.ts";
import { look } from "./look.ts";
import { push } from "./push.ts";
import type { Forges } from "../../ports/forge.ts";

export interface ForgesOptions {
  /** A company's proxy that everything must go through; may hold a password. */
  readonly upstreamProxy?: string | undefined;
  readonly timeoutMs?: number;
}

const usualTimeoutMs = 5 * 60_000;
const apiTimeoutMs = 30_000;

export function openForges({ upstreamProxy, timeoutMs = usualTimeoutMs }: ForgesOptions): Forges {
  const git = { proxy: upstreamProxy, timeoutMs };
  const api = openApi({ proxy: upstreamProxy, timeoutMs: Math.min(apiTimeoutMs, timeoutMs) });
  const openers = { github: openGithub, gitlab: openGitlab, gitea: openGitea };
  return {
    findRemote,
    look: (place, branches) => look(place, branches, git),
    push: (order) => push(order, git),
    openPullRequest: (order) => openers[order.forge](order, api),
  };
}
