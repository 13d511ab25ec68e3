/**
 * Where work may be pushed to. Pure: a project's config names the remote, and what counts beyond that is the person's
 * own config alone.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { isLoopback } from "../../base/url-address.ts";
import type { PushSection } from "../../manifest/sections/push-section.ts";
import { matchesPath } from "../../contract/network/path-pattern.ts";
import { ForgeKind } from "../../contract/review/push.ts";

export interface PushTarget {
  /** Without a credential, even if the project's config has one. */
  readonly url: string;
  readonly host: string;
  readonly forge: ForgeKind | undefined;
  /** Whether it is a public forge, or a person has named it in their own config. */
  readonly isNamed: boolean;
}

const publicForges: Readonly<Record<ForgeKind, readonly string[]>> = {
  github: ["github.com"],
  gitlab: ["gitlab.com"],
  gitea: ["codeberg.org"],
};

export function parsePushTarget(remote: string, text: string, settings: PushSection): PushTarget {
  const address = httpsFormOf(text) ?? text;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw notHttps(remote, text);
  const forge = ForgeKind.options.find((kind) =>
    [...publicForges[kind], ...(settings[kind] ?? [])].some((entry) => originOf(entry) === url.origin),
  );
  const isNamed =
    forge !== undefined || (settings.hosts ?? []).some((entry) => originOf(entry) === url.origin);
  // A host that is no forge that is known may speak nothing but ssh, or mean another repository by the same path.
  if (address !== text && !isNamed) throw notHttps(remote, text);
  // SECURITY: over plain http the credential can be read on the way; only a person may send it there.
  if (url.protocol === "http:" && !isNamed) throw notHttps(remote, text);
  const path = url.pathname.replace(/\/+$/, "");
  if (path === "" || url.search !== "" || url.hash !== "" || !path.slice(1).split("/").every(isOnePart)) {
    throw new AgentBoxError("push.refused", `The remote "${remote}" names no repository.`, {
      hint: `Set it: git remote set-url ${remote} https://HOST/OWNER/NAME.git`,
    });
  }
  return { url: `${url.origin}${path}`, host: url.host, forge, isNamed };
}

/** SECURITY: with a slash or dots hidden in it, the API would be asked about another repository than git pushes to. */
function isOnePart(part: string): boolean {
  try {
    const name = decodeURIComponent(part);
    return name !== "" && name !== "." && name !== ".." && !/[/\\\u0000-\u001f]/.test(name);
  } catch {
    return false;
  }
}

/** `host`, `host:port`, or `http://` with an address of this machine. */
function originOf(entry: string): string | undefined {
  const text = entry.startsWith("http://") ? entry : `https://${entry}`;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === "https:" || isLoopback(url) ? url.origin : undefined;
}

/** Names of forges for ssh alone; over https they are called otherwise. */
const sshNames: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
};

/**
 * `git@host:owner/name` and `ssh://git@host/owner/name` as every forge has them over https. The port is that of ssh, and
 * says nothing about https.
 */
function httpsFormOf(text: string): string | undefined {
  const [, host, path] =
    /^ssh:\/\/(?:[\w.-]+@)?([A-Za-z0-9.-]+)(?::\d{1,5})?\/+([\w~.-][\w~./-]*)$/.exec(text) ??
    /^(?:[\w.-]+@)([A-Za-z0-9.-]+):\/*([\w~.-][\w~./-]*)$/.exec(text) ??
    [];
  if (host === undefined || path === undefined) return undefined;
  // SECURITY: a URL would be read without these, and so name another repository than ssh does.
  if (path.split("/").some((part) => part === "." || part === "..")) return undefined;
  const name = host.toLowerCase();
  return `https://${sshNames[name] ?? name}/${path}`;
}

function notHttps(remote: string, text: string): AgentBoxError {
  const form = httpsFormOf(text);
  const hint =
    form === undefined
      ? `The vault's credential goes over https only: git remote add forge https://HOST/OWNER/NAME.git, then --remote forge.`
      : `It would be pushed to as ${form}. Say so in the user config, with the host's forge: [push] gitea = ["${new URL(form).host}"] (or github, gitlab, hosts).`;
  return new AgentBoxError("push.refused", `The remote "${remote}" is not an https:// address.`, { hint });
}

/** SECURITY: everyone runs the default branch; work gets there by a person's click and never by a push. */
export function requireAllowedBranch(branch: string, { branches = [] }: PushSection): void {
  if (/^agentbox\/./.test(branch)) return;
  if (branches.some((pattern) => matchesPath(pattern, branch))) return;
  throw new AgentBoxError("push.refused", `Work may not be pushed to the branch ${JSON.stringify(branch)}.`, {
    hint: 'Branches below agentbox/ always can be; others are allowed in the user config: [push] branches = ["feature/**"]',
    facts: { branch },
  });
}

export function requireOwnBranch(branch: string, protectedOnes: readonly (string | undefined)[]): void {
  const same = (one: string | undefined) => one?.toLowerCase() === branch.toLowerCase();
  if (!protectedOnes.some(same)) return;
  throw new AgentBoxError(
    "push.refused",
    `The branch ${JSON.stringify(branch)} is one that work is merged into.`,
    {
      hint: "Push to a branch of its own: --branch agentbox/NAME",
      facts: { branch },
    },
  );
}

/** Where a person opens a pull request by hand. */
export function compareUrl(
  { url, forge }: Pick<PushTarget, "url" | "forge">,
  base: string,
  branch: string,
): string | undefined {
  const page = url.replace(/\.git$/, "");
  const [from, to] = [base, branch].map((name) => name.split("/").map(encodeURIComponent).join("/"));
  switch (forge) {
    case "github":
      return `${page}/compare/${from}...${to}?expand=1`;
    case "gitea":
      return `${page}/compare/${from}...${to}`;
    case "gitlab": {
      const query = new URLSearchParams({
        "merge_request[source_branch]": branch,
        "merge_request[target_branch]": base,
      });
      return `${page}/-/merge_requests/new?${query.toString()}`;
    }
    case undefined:
    default:
      return undefined;
  }
}
