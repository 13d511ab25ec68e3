/** Limits on routes that make boxes, change what they may reach, land their work, or give a person access. */
import type { Scope } from "../scope-names.ts";
import { gitVariables, settingVariables } from "../../person-variables.ts";
import type { Limit } from "./limit.ts";

const personVariables: readonly string[] = [...settingVariables, ...Object.values(gitVariables)];

const always = (): boolean => true;

interface Asked {
  readonly flags?: Readonly<Record<string, unknown>> | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly trust?: string | undefined;
}

const ownManifest = "write it into the project's agentbox.toml, then: agentbox trust";
const inFlags = (section: string, what: string): Limit<Asked> => ({
  parameter: `flags.${section}`,
  needs: "trust",
  what,
  instead: ownManifest,
  isAsked: ({ flags }) => flags?.[section] !== undefined,
});

export const unlistedDirectory: Limit<object> = {
  parameter: "projectDir",
  needs: "trust",
  what: "name a directory of the host that is not in [web] projects",
  instead: "add it to [web] projects in config.toml",
};

/**
 * SECURITY: values from a caller who may only ask are a request like a manifest, so that reaching outside of the
 * workspace needs a yes. These are not even taken as requests.
 */
export const asking: readonly Limit<Asked>[] = [
  {
    parameter: "trust",
    needs: "trust",
    what: "agree to what a manifest asks",
    instead: "agentbox trust DIR",
    isAsked: ({ trust }) => trust !== undefined,
  },
  inFlags("mounts", "show a directory of the host to a box"),
  inFlags("secrets", "bind a secret"),
  inFlags("security", "make an exception from the isolation"),
  unlistedDirectory,
  {
    parameter: "flags",
    needs: "trust",
    what: "reach outside of the workspace by flags",
    instead: ownManifest,
  },
];

export const hostVariables: Limit<Asked> = {
  parameter: "variables",
  needs: "trust",
  // SECURITY: they would become keys of models for the host, also for other boxes.
  what: "give values of host variables",
  instead: "type the command where the variables are",
  // Time zone, editor and the like give nothing: of those who may only ask, none is taken.
  isAsked: ({ variables }) => Object.keys(variables ?? {}).some((name) => !personVariables.includes(name)),
};

interface Queued extends Pick<Asked, "variables" | "trust"> {
  readonly tasks: readonly Pick<Asked, "flags">[];
}

/** SECURITY: the limits of making a box, for each task: a queue must not be the way around them. */
export const queued: readonly Limit<Queued>[] = asking.map((limit) => ({
  ...limit,
  isAsked: ({ tasks, trust }: Queued) =>
    tasks.some(({ flags }) => limit.isAsked?.({ flags, trust }) === true),
}));

export const queuedVariables: Limit<Queued> = {
  ...hostVariables,
  isAsked: ({ variables }) => hostVariables.isAsked?.({ variables }) === true,
};

export const weakerRuntime: Limit<unknown> = {
  parameter: "flags.runtime",
  needs: "trust",
  what: "make a box with weaker isolation than the owner's config says",
  instead: "agentbox run --runtime NAME",
};

export const weakerMove: Limit<unknown> = {
  parameter: "runtime",
  needs: "trust",
  what: "move a box to weaker isolation",
  instead: "agentbox move BOX --runtime NAME",
};

export const agreedPreview: Limit<{ readonly agreed?: string | undefined }> = {
  parameter: "agreed",
  needs: "look",
  what: "agree to a preview of a box that holds secrets",
  instead: "agentbox preview BOX PORT",
  isAsked: ({ agreed }) => agreed !== undefined,
};

export const ownTool: Limit<{ readonly from?: string | undefined }> = {
  parameter: "from",
  needs: "socket",
  what: "take a directory of the host into the tool store",
  instead: "agentbox agents add NAME --from PATH",
  isAsked: ({ from }) => from !== undefined,
};

export const lockFile: Limit<{ readonly projectDir?: string | undefined }> = {
  parameter: "projectDir",
  needs: "trust",
  what: "write the lock file of a project",
  instead: "agentbox agents add NAME",
  isAsked: ({ projectDir }) => projectDir !== undefined,
};

interface Landing {
  readonly accept: readonly unknown[];
  readonly skipsChecks: boolean;
}

/** SECURITY: work that was judged dangerous runs on the host at the next command there. A program has not looked. */
export const landing = (command: string): readonly Limit<Landing>[] => [
  {
    parameter: "accept",
    needs: "look",
    what: "mark a danger as looked at",
    instead: `agentbox ${command} BOX --accept-danger KIND`,
    isAsked: ({ accept }) => accept.length > 0,
  },
  {
    parameter: "skipsChecks",
    needs: "look",
    what: "skip checks",
    instead: `agentbox ${command} BOX --skip-checks`,
    isAsked: ({ skipsChecks }) => skipsChecks,
  },
];

export const chosenSecret: Limit<{ readonly secret?: string | undefined }> = {
  parameter: "secret",
  needs: "trust",
  // SECURITY: the owner's config says which secret is for pushing; only the owner chooses among the others.
  what: "choose the secret to push with",
  instead: "agentbox pr BOX --secret NAME",
  isAsked: ({ secret }) => secret !== undefined,
};

export const hostFile: Limit<unknown> = {
  parameter: "*",
  needs: "socket",
  what: "write a file of the host",
  instead: "agentbox export BOX --patch FILE",
  isAsked: always,
};

export const unaskedHost: Limit<unknown> = {
  parameter: "*",
  needs: "trust",
  what: "open a host that no box asks for now",
  instead: "write it into agentbox.toml, then: agentbox policy apply BOX",
  isAsked: always,
};

export const projectAnswer: Limit<{ readonly answer: string; readonly scope?: string | undefined }> = {
  parameter: "scope",
  needs: "trust",
  what: "say yes for a whole project",
  instead: "agentbox approvals allow ID",
  isAsked: ({ answer, scope }) => answer === "allow" && scope === "project",
};

export const secretAnswer: Limit<unknown> = {
  parameter: "secret",
  needs: "trust",
  what: "say yes to the use of a secret",
  instead: "agentbox approvals allow ID",
};

export const ownerLink: Limit<unknown> = {
  parameter: "*",
  needs: "socket",
  // SECURITY: a session of the owner has every scope and outlives what asked for it.
  what: "open the dashboard by a link",
  instead: "agentbox open",
  isAsked: always,
};

export const wordTokens: Limit<{ readonly scopes: readonly Scope[] }> = {
  parameter: "scopes",
  needs: "socket",
  what: "make a token for trust or export",
  instead: "agentbox token create NAME --scope SCOPE",
  isAsked: ({ scopes }) => scopes.some((scope) => scope === "trust" || scope === "export"),
};
