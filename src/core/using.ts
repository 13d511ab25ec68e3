/**
 * The parts of core that a use case takes, by name: members of Core, and ports. A function can touch what it names and
 * nothing else; only the composition root has all of Core.
 */
import type { Core, CorePorts } from "./context.ts";

type Part = Exclude<keyof Core, "ports"> | keyof CorePorts;

export type Using<P extends Part> = Pick<Core, Extract<P, keyof Core>> & {
  readonly ports: Pick<CorePorts, Extract<P, keyof CorePorts>>;
};

/** Records, and the log of events that says how they came to be. */
export type RecordParts = "clock" | "commit" | "event" | "store";

/** Letting go of a box: its link, and all that the host keeps for it while it runs. */
export type CloseParts = "agentWatch" | "gate" | "injection" | "live" | "models" | "sshKeys";

/** Keeping what a session prints, and understanding what an agent reports. */
export type OutputParts =
  | "agentProblems"
  | "agentWatch"
  | "agents"
  | "background"
  | "clock"
  | "conversations"
  | "live"
  | "logs"
  | "noteFromAgent"
  | "report"
  | "turnCheckpoints";

/** Letting a box wait, and go on. */
export type PauseParts =
  | RecordParts
  | "agentWatch"
  | "background"
  | "getBox"
  | "live"
  | "locked"
  | "runtimes";

/** Ending what runs in a box. */
export type HaltParts = CloseParts | "clock" | "commit" | "event" | "report" | "runtimes";

/** Removing a box. */
export type RemoveParts =
  | CloseParts
  | "access"
  | "approvals"
  | "background"
  | "clock"
  | "commit"
  | "event"
  | "eventBytes"
  | "logs"
  | "runtimes"
  | "storage"
  | "store";

/** Looking at what a box has done before it is removed. */
export type LookParts = LaunchParts | RemoveParts | "getBox" | "host" | "locked" | "reviews";

/** Telling people what their boxes need them for. */
export type NoticeParts =
  | "access"
  | "background"
  | "clock"
  | "host"
  | "note"
  | "noticeSender"
  | "notices"
  | "onEvent"
  | "store"
  | "vault";

/** Planning a box. */
export type PlanParts =
  | "agentProblems"
  | "agents"
  | "host"
  | "images"
  | "modelKeys"
  | "presets"
  | "refreshAgents"
  | "runtimes"
  | "secretGrants"
  | "serverStore"
  | "storage"
  | "store"
  | "toolStore"
  | "toolchains"
  | "tools"
  | "vault"
  | "workspaces";

/** Going from a boxd that has dialed in to a box that runs. */
export type RunParts =
  | OutputParts
  | "commit"
  | "connections"
  | "event"
  | "locked"
  | "note"
  | "noteFromBox"
  | "reviews"
  | "secretGrants"
  | "storage"
  | "store"
  | "vault";

/** Making a box run, up to the moment that boxd has dialed in. */
export type LaunchParts =
  | CloseParts
  | "agentProblems"
  | "agents"
  | "background"
  | "boots"
  | "clock"
  | "eventBytes"
  | "links"
  | "logRates"
  | "logs"
  | "note"
  | "noteFromBox"
  | "reactions"
  | "runtimes"
  | "storage"
  | "store"
  | "toolStore"
  | "toolchains"
  | "tools";

/** Speaking to a box whether it runs or not. */
export type LinkParts = LaunchParts | "getBox" | "locked";

/** Looking at the work of a box. */
export type ReviewParts = LinkParts | "commit" | "event" | "merges" | "reviews" | "secretScan";

/** Taking over a box that an earlier daemon has started. */
export type AdoptParts =
  | RunParts
  | HaltParts
  | "eventBytes"
  | "links"
  | "logRates"
  | "reactions"
  | "toolStore"
  | "toolchains";

/** Starting a box with its agent, its services and its secrets. */
export type StartParts = AdoptParts | "approvals" | "boots" | "tools";
