/**
 * Who may use which route. The table is total: a route without an entry does not compile, so nobody can forget to
 * think about it. SECURITY: this is what stands between a guest of one box and the host. Which parameters of a route
 * take more than the route itself is in route-risks.ts.
 */
import type { RouteName } from "../api/routes.ts";
import type { Scope } from "./scope-names.ts";

/**
 * `anyone`: whoever is signed in. `member`: whoever is no guest. `sight`: whoever is signed in, and the handler shows
 * and changes only what they see. `look`, `work`, `own`: that role on the route's {box}. `host`: its owner and admins.
 */
export type Reach = "anyone" | "member" | "sight" | "look" | "work" | "own" | "host";

export interface RouteAccess {
  /** What a token must have been made for; `none`: any credential will do. */
  readonly scope: Scope | "none";
  readonly reach: Reach;
}

const to = (scope: RouteAccess["scope"], reach: Reach): RouteAccess => ({ scope, reach });

export const routeAccess: Readonly<Record<RouteName, RouteAccess>> = {
  livez: to("none", "anyone"),
  readyz: to("read", "host"),
  healthz: to("read", "host"),
  metrics: to("read", "host"),
  openapi: to("none", "anyone"),
  getInfo: to("none", "anyone"),
  stopDaemon: to("host", "host"),
  getDoctor: to("read", "host"),

  listBoxes: to("read", "sight"),
  createBox: to("work", "member"),
  getBox: to("read", "look"),
  exportBox: to("read", "own"),
  removeBox: to("work", "own"),
  startBox: to("work", "work"),
  stopBox: to("work", "work"),
  restartBox: to("work", "work"),
  moveBox: to("work", "own"),
  pauseBox: to("work", "work"),
  resumeBox: to("work", "work"),
  getStats: to("read", "look"),
  getResources: to("read", "look"),
  getLogs: to("read", "look"),
  listSessions: to("read", "look"),
  startSession: to("work", "work"),
  exec: to("work", "work"),
  // Whoever may only look gets a terminal that takes no keys.
  attach: to("read", "look"),
  // Any path of the box, its home and what it holds there included.
  files: to("work", "work"),

  // Of the workspace only: a look shows neither the home nor the secrets that a box holds.
  listFiles: to("read", "look"),
  readFile: to("read", "look"),
  writeFile: to("work", "work"),
  listPorts: to("read", "look"),
  // Who sees a program of the box can also use it.
  openPreview: to("work", "work"),

  startRun: to("work", "work"),
  sendMessage: to("work", "work"),
  interruptAgent: to("work", "work"),
  getBudget: to("read", "look"),
  // What it may spend is the host's money, and its caches are those of every box of the project.
  raiseBudget: to("approve", "host"),
  getUsage: to("read", "sight"),
  listModelRequests: to("read", "sight"),
  listAgents: to("read", "member"),
  installAgent: to("host", "host"),
  removeAgent: to("host", "host"),
  checkAgents: to("read", "host"),

  listCheckpoints: to("read", "look"),
  takeCheckpoint: to("work", "work"),
  restoreCheckpoint: to("work", "work"),
  forkBox: to("work", "own"),
  getReview: to("read", "look"),
  getPatch: to("read", "look"),
  noteLook: to("review", "own"),
  listComments: to("read", "look"),
  addComment: to("review", "work"),
  sendComments: to("review", "work"),
  resolveComment: to("review", "work"),
  runChecks: to("review", "work"),
  mergeWork: to("review", "own"),
  undoMerge: to("review", "sight"),
  pushWork: to("review", "own"),
  discardWork: to("review", "own"),
  // It names a file of the host.
  exportWork: to("host", "host"),

  listEvents: to("read", "sight"),
  getPolicy: to("read", "look"),
  changePolicy: to("approve", "own"),
  allowEgress: to("approve", "host"),
  explainPolicy: to("read", "look"),
  learnPolicy: to("read", "look"),
  getNet: to("read", "look"),
  listEgress: to("read", "sight"),
  listApprovals: to("read", "sight"),
  answerApproval: to("approve", "sight"),

  // A yes to what a manifest asks is the owner's own word. Asking reads any directory of the host.
  askTrust: to("trust", "host"),
  grantTrust: to("trust", "host"),
  listTrust: to("read", "host"),
  revokeTrust: to("approve", "host"),

  getVault: to("secrets", "host"),
  unlockVault: to("secrets", "host"),
  lockVault: to("secrets", "host"),
  rekeyVault: to("secrets", "host"),
  exportVault: to("export", "host"),
  importVault: to("secrets", "host"),
  listSecrets: to("secrets", "host"),
  addSecret: to("secrets", "host"),
  getSecret: to("secrets", "host"),
  removeSecret: to("secrets", "host"),
  rotateSecret: to("secrets", "host"),
  grantSecret: to("secrets", "host"),
  revokeSecret: to("secrets", "host"),
  secretAudit: to("secrets", "host"),
  testSecret: to("secrets", "own"),
  listConnectionPresets: to("secrets", "host"),
  startConnection: to("secrets", "host"),
  getConnection: to("secrets", "host"),
  keepLogin: to("secrets", "host"),
  verifyAudit: to("read", "host"),

  getManifestSchema: to("read", "member"),
  // It reads what a box would be made from, so it takes what making one takes.
  checkManifest: to("work", "member"),
  listProjects: to("read", "member"),
  listImages: to("read", "member"),
  buildImage: to("host", "host"),
  removeImage: to("host", "host"),
  pruneImages: to("host", "host"),
  getSbom: to("read", "member"),
  listCaches: to("read", "host"),
  saveCache: to("work", "host"),
  clearCache: to("host", "host"),
  getDisk: to("read", "host"),
  prune: to("host", "host"),

  getMe: to("none", "anyone"),
  signOut: to("none", "anyone"),
  openLink: to("host", "host"),
  listTokens: to("host", "member"),
  createToken: to("host", "member"),
  removeToken: to("host", "member"),
  listShares: to("approve", "own"),
  createShare: to("approve", "own"),
  removeShare: to("approve", "own"),
  listSignIns: to("host", "member"),
  endSignIn: to("host", "member"),
};
