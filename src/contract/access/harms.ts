import type { RouteAccess } from "../api/route.ts";
import { routeNames, routeTable } from "../api/routes.ts";
import type { Scope } from "./scope-names.ts";

/** The most that the thief of a credential can do, in words. Each route names its harms in the table of routes. */
export const harms = {
  see: "see every box: the files of its workspace, its output and terminals, reviews, events, network records, cost; which projects, images, caches and agents there are",
  make: "make boxes without a directory, or from the directories of `[web] projects`, with what your own config gives to every box, and with what you agreed to for that project; use up processors, memory, disk and budgets; find out whether a path of the host exists, by naming it in a request",
  use: "type and run anything in every box and read and change all of its files, and so use what the box was given: its secrets at their hosts, its mounts, its network, its model; read the secrets that a box holds itself",
  destroy: "stop and remove boxes with the work in them",
  cache: "put what a box has into the package cache of its project, which later boxes get",
  steer: "tell agents what to do, in comments; run the checks of a box",
  land: "merge work in which no danger was found and all checks passed into its project, take merges back, push work to branches of its own, where CI runs it, and open pull requests there in words of their own",
  answer: "say yes to what a box asks to reach, for that box and as long as they like; say no to everything",
  spend: "raise budgets",
  narrow: "put a policy in force to which you have agreed; take agreements back",
  share: "share boxes, as far as the token itself may read and work, and no longer than it lasts",
  trust:
    "agree in your place to anything: mounts, and so every file that you can read and write; secrets, sent to any host; hosts, exceptions, dangers of a merge. With `work` or `review` that is your account",
  spoil:
    "add, replace, remove and lock secrets, so that boxes use what the thief put there, and send what they work on to the account that it belongs to; take grants back; see names and uses. Not read a value, and not bind one",
  try: "make a box send a request that only reads, with a secret that it may use, to a host that is bound",
  export: "take out every secret, sealed to a passphrase of their own",
  rule: "stop the daemon; install other versions of agents from their vendors; remove agents, images, caches and stopped boxes",
  tell: "have notices of boxes (their names, questions and verdicts) sent to a public address of their own; end those of other receivers",
  doors: "end tokens and sign-ins; make tokens that can do no more and last no longer than this one",
} as const;
export type Harm = keyof typeof harms;

/** The most that a thief of a token with this scope can do, each in words. */
export const mostOf = (scope: Scope): string[] =>
  harmsOf(({ scope: needed }) => needed === scope).map((harm) => harms[harm]);

/** The harm that the routes of a credential allow. */
export function harmsOf(mayUse: (access: RouteAccess) => boolean): Harm[] {
  const usable = routeNames.map((name) => routeTable[name]).filter(mayUse);
  const named = new Set(usable.flatMap((route) => route.harms));
  return (Object.keys(harms) as Harm[]).filter((harm) => named.has(harm));
}
