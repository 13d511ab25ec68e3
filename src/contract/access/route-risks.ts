/**
 * What a credential is worth to a thief, route by route, and which parameters of a route take more than the route
 * itself. Both are total: a route without an entry does not compile. docs/sign-in.md shows the first as a table, the
 * daemon refuses by the second, and a test tries every line of it.
 */
import type { RouteBody, RouteName } from "../api/routes.ts";
import { type Harm, harms } from "./harms.ts";
import type { Limit } from "./limit.ts";
import { type RouteAccess, routeAccess } from "./route-access.ts";
import type { Scope } from "./scope-names.ts";
import { newTokens, ownSignIn, replacedTokens } from "./sign-in-limits.ts";

interface Risk<R extends RouteName> {
  readonly most: readonly Harm[];
  readonly limits: readonly Limit<RouteBody<R>>[];
}

const can = <R extends RouteName>(
  most: Harm | readonly Harm[],
  ...limits: readonly Limit<RouteBody<R>>[]
): Risk<R> => ({ most: typeof most === "string" ? [most] : most, limits });
const nothing = <R extends RouteName>(): Risk<R> => can<R>([]);

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
const elsewhere: Limit<object> = {
  parameter: "projectDir",
  needs: "trust",
  what: "name a directory of the host that is not in [web] projects",
  instead: "add it to [web] projects in config.toml",
};

/**
 * SECURITY: what somebody types who may only ask is a request like a manifest, so that nothing reaches outside of the
 * workspace without a yes. These are not even taken as requests.
 */
const asking: readonly Limit<Asked>[] = [
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
  elsewhere,
  {
    parameter: "flags",
    needs: "trust",
    what: "reach outside of the workspace by flags",
    instead: ownManifest,
  },
];

const variables: Limit<Asked> = {
  parameter: "variables",
  needs: "trust",
  // SECURITY: they would become keys of models for the host, also for other boxes.
  what: "give values of host variables",
  instead: "type the command where the variables are",
  isAsked: ({ variables }) => Object.keys(variables ?? {}).length > 0,
};

interface Landing {
  readonly accept: readonly unknown[];
  readonly skipsChecks: boolean;
}

/** SECURITY: work that was judged dangerous runs on the host as soon as somebody works there. A program has not looked. */
const landing = (command: string): readonly Limit<Landing>[] => [
  {
    parameter: "accept",
    needs: "look",
    what: "say that somebody has looked at a danger",
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

export const routeRisks: { readonly [R in RouteName]: Risk<R> } = {
  livez: nothing(),
  readyz: can("see"),
  healthz: can("see"),
  metrics: can("see"),
  openapi: nothing(),
  getInfo: nothing(),
  stopDaemon: can("rule"),
  getDoctor: can("see"),

  listBoxes: can("see"),
  createBox: can("make", ...asking, variables, {
    parameter: "flags.runtime",
    needs: "trust",
    what: "make a box with weaker isolation than the owner's config says",
    instead: "agentbox run --runtime NAME",
  }),
  getBox: can("see"),
  exportBox: can("see"),
  removeBox: can("destroy"),
  startBox: can("use"),
  stopBox: can("destroy"),
  restartBox: can("use"),
  moveBox: can("use", {
    parameter: "runtime",
    needs: "trust",
    what: "move a box to weaker isolation",
    instead: "agentbox move BOX --runtime NAME",
  }),
  pauseBox: can("use"),
  resumeBox: can("use"),
  getStats: can("see"),
  getResources: can("see"),
  getLogs: can("see"),
  listSessions: can("see"),
  startSession: can("use"),
  exec: can("use"),
  attach: can("see"),
  files: can("use"),

  listFiles: can("see"),
  readFile: can("see"),
  writeFile: can("use"),
  listPorts: can("see"),
  openPreview: can("use", {
    parameter: "agreed",
    needs: "look",
    what: "agree to a preview of a box that holds secrets",
    instead: "agentbox preview BOX PORT",
    isAsked: ({ agreed }) => agreed !== undefined,
  }),

  startRun: can("use"),
  sendMessage: can("use"),
  interruptAgent: can("use"),
  getBudget: can("see"),
  raiseBudget: can("spend"),
  getUsage: can("see"),
  listModelRequests: can("see"),
  listAgents: can("see"),
  installAgent: can(
    "rule",
    {
      parameter: "from",
      needs: "socket",
      what: "take a directory of the host into the tool store",
      instead: "agentbox agents add NAME --from PATH",
      isAsked: ({ from }) => from !== undefined,
    },
    {
      parameter: "projectDir",
      needs: "trust",
      what: "write the lock file of a project",
      instead: "agentbox agents add NAME",
      isAsked: ({ projectDir }) => projectDir !== undefined,
    },
  ),
  removeAgent: can("rule"),
  checkAgents: can("see"),

  listCheckpoints: can("see"),
  takeCheckpoint: can("use"),
  restoreCheckpoint: can("use"),
  forkBox: can("make"),
  getReview: can("see"),
  getPatch: can("see"),
  // A token's looks are its own, and what it lands it may name just as well.
  noteLook: can("land"),
  listComments: can("see"),
  addComment: can("steer"),
  sendComments: can("steer"),
  resolveComment: can("steer"),
  runChecks: can("steer"),
  mergeWork: can("land", ...landing("merge")),
  undoMerge: can("land"),
  pushWork: can("land", ...landing("pr"), {
    parameter: "secret",
    needs: "trust",
    // SECURITY: the owner's config says which secret is for pushing; nobody else chooses among the others.
    what: "choose the secret to push with",
    instead: "agentbox pr BOX --secret NAME",
    isAsked: ({ secret }) => secret !== undefined,
  }),
  discardWork: can("destroy"),
  exportWork: can("rule", {
    parameter: "*",
    needs: "socket",
    what: "write a file of the host",
    instead: "agentbox export BOX --patch FILE",
    isAsked: always,
  }),

  listEvents: can("see"),
  getPolicy: can("see"),
  changePolicy: can("narrow", ...asking),
  allowEgress: can("answer", {
    parameter: "*",
    needs: "trust",
    what: "open a host that no box asks for now",
    instead: "write it into agentbox.toml, then: agentbox policy apply BOX",
    isAsked: always,
  }),
  explainPolicy: can("see"),
  learnPolicy: can("see"),
  getNet: can("see"),
  listEgress: can("see"),
  listApprovals: can("see"),
  answerApproval: can(
    "answer",
    {
      parameter: "scope",
      needs: "trust",
      what: "say yes for a whole project",
      instead: "agentbox approvals allow ID",
      isAsked: ({ answer, scope }) => answer === "allow" && scope === "project",
    },
    {
      parameter: "secret",
      needs: "trust",
      what: "say yes to the use of a secret",
      instead: "agentbox approvals allow ID",
    },
  ),

  askTrust: can("trust"),
  grantTrust: can("trust"),
  listTrust: can("see"),
  revokeTrust: can("narrow"),

  getVault: can("spoil"),
  unlockVault: can("spoil"),
  lockVault: can("spoil"),
  rekeyVault: can("spoil", {
    parameter: "*",
    needs: "socket",
    what: "change what protects the vault",
    instead: "agentbox vault rekey",
    isAsked: always,
  }),
  exportVault: can("export", {
    parameter: "*",
    needs: "export",
    what: "take secrets out of the vault",
    instead: "agentbox vault export FILE",
    isAsked: always,
  }),
  importVault: can("spoil", {
    parameter: "*",
    needs: "socket",
    // SECURITY: what is in the file can name commands of the host as the place of a value.
    what: "take secrets from a sealed file",
    instead: "agentbox vault import FILE",
    isAsked: always,
  }),
  listSecrets: can("spoil"),
  addSecret: can(
    "spoil",
    {
      parameter: "source",
      needs: "socket",
      // SECURITY: the daemon reads the file and runs the command as the owner, and outside of every box.
      what: "name a file or a command of the host as the place of a secret",
      instead: "agentbox vault set NAME --ref command:CMD",
      isAsked: ({ source }) => source.kind === "file" || source.kind === "command",
    },
    {
      parameter: "source.variable",
      needs: "trust",
      what: "name a variable of the daemon as the place of a secret",
      instead: "agentbox vault set NAME --ref env:VARIABLE",
      isAsked: ({ source }) => source.kind === "env",
    },
    newTokens,
  ),
  getSecret: can("spoil"),
  removeSecret: can("spoil"),
  rotateSecret: can("spoil", replacedTokens),
  grantSecret: can("spoil", {
    parameter: "*",
    needs: "trust",
    what: "let a box use a secret",
    instead: "agentbox vault grant NAME --box BOX",
    isAsked: always,
  }),
  revokeSecret: can("spoil"),
  secretAudit: can("spoil"),
  testSecret: can("try"),
  listConnectionPresets: can("spoil"),
  startConnection: can("spoil", ...ownSignIn),
  getConnection: can("spoil"),
  keepLogin: can("spoil"),
  verifyAudit: can("see"),

  getManifestSchema: can("see"),
  checkManifest: can("make", elsewhere),
  listProjects: can("see"),
  listImages: can("see"),
  buildImage: can("rule", ...asking),
  removeImage: can("rule"),
  pruneImages: can("rule"),
  getSbom: can("see"),
  listCaches: can("see"),
  saveCache: can("cache"),
  clearCache: can("rule"),
  getDisk: can("see"),
  prune: can("rule"),

  getMe: nothing(),
  signOut: nothing(),
  openLink: can("doors", {
    parameter: "*",
    needs: "socket",
    // SECURITY: a session of the owner has every scope and outlives what asked for it.
    what: "open the dashboard by a link",
    instead: "agentbox open",
    isAsked: always,
  }),
  listTokens: can("doors"),
  createToken: can("doors", {
    parameter: "scopes",
    needs: "socket",
    what: "make a token for trust or export",
    instead: "agentbox token create NAME --scope SCOPE",
    isAsked: ({ scopes }) => scopes.some((scope) => scope === "trust" || scope === "export"),
  }),
  removeToken: can("doors"),
  listShares: can("share"),
  createShare: can("share"),
  removeShare: can("share"),
  listSignIns: can("doors"),
  endSignIn: can("doors"),
};

/** The most that a thief of a token with this scope can do, each in words. */
export const mostOf = (scope: Scope): string[] =>
  harmsOf(({ scope: needed }) => needed === scope).map((harm) => harms[harm]);

/** What can be done with the routes that somebody may use. */
export function harmsOf(mayUse: (access: RouteAccess) => boolean): Harm[] {
  const routes = (Object.keys(routeRisks) as RouteName[]).filter((name) => mayUse(routeAccess[name]));
  const named = new Set(routes.flatMap((name) => routeRisks[name].most));
  return (Object.keys(harms) as Harm[]).filter((harm) => named.has(harm));
}
