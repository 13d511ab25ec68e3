/** Everything decided about a box before it is made. */
import type { AgentBoxError } from "../../base/errors.ts";
import type { PlannedCommand } from "../../contract/api/schemas/planned-command.ts";
import type { CreateBox, TrustQuestion } from "../../contract/api/schemas.ts";
import type { BoxSpec, Isolation } from "../../contract/box.ts";
import type { ManifestLayer } from "../../manifest/index.ts";
import type { ToolchainOffer } from "../../contract/toolchain.ts";
import type { NetworkPolicy } from "../../contract/network/policy.ts";
import { refusalOf } from "../../contract/plan.ts";
import type { CorePorts } from "../context.ts";
import type { SecretGrants } from "../secrets/secret-grants.ts";
import type { Maker } from "../team/members.ts";

type Asked = Pick<
  CreateBox,
  "name" | "projectDir" | "manifest" | "flags" | "variables" | "trust" | "main" | "run"
>;

export interface PlanInputs extends Partial<Asked>, Partial<Pick<Maker, "isRequest" | "isInBrowser">> {
  /** The caller runs the planned command in the box. */
  readonly exec?: boolean | undefined;
  /** A person watches, and can be asked about hosts that no rule names. */
  readonly attended?: boolean | undefined;
  /** An image holds no variables, no workspace and no keys, so nothing about those refuses it. */
  readonly makes: "box" | "image";
}

/** The inputs of a plan, which it only reads. */
export interface PlanPorts
  extends Pick<
    CorePorts,
    | "agents"
    | "agentProblems"
    | "host"
    | "images"
    | "modelKeys"
    | "presets"
    | "runtimes"
    | "serverStore"
    | "storage"
    | "store"
    | "toolStore"
    | "toolchains"
    | "tools"
    | "vault"
    | "workspaces"
  > {
  readonly secretGrants: Pick<SecretGrants, "covers">;
}

/** The root of a box, where it is not the host's own system. */
export interface PlannedImage {
  /** The reference of its base by content; absent for Debian packages, or while it has not been looked up. */
  readonly base?: string | undefined;
  readonly packages: readonly string[];
  /** The image that is there; absent while it has to be built. */
  readonly id?: string | undefined;
}

export interface BoxPlan {
  /** Empty: the box can be made. In the order in which they are told and solved. */
  readonly problems: readonly AgentBoxError[];
  readonly warnings: readonly string[];
  readonly layers: readonly ManifestLayer[];
  readonly projectDir?: string | undefined;
  readonly manifestDigest?: string | undefined;
  /** Absent while the layers cannot be read, as is all that follows from it. */
  readonly spec?: BoxSpec | undefined;
  readonly isolation?: Isolation | undefined;
  readonly network?: NetworkPolicy | undefined;
  readonly image?: PlannedImage | undefined;
  /** Toolchains that the project uses, and whether a box gets them. */
  readonly toolchains?: readonly ToolchainOffer[] | undefined;
  /** The manifest's requests; absent without any. */
  readonly trust?: TrustQuestion | undefined;
  readonly command?: PlannedCommand | undefined;
}

/** A plan without problems. */
export type SoundPlan = BoxPlan &
  Required<{ readonly [K in "spec" | "isolation" | "network" | "command"]: NonNullable<BoxPlan[K]> }>;

/** Throws all problems of a plan as one refusal. */
export function requireSound(plan: BoxPlan): SoundPlan {
  if (plan.problems.length > 0) throw refusalOf(plan.problems);
  return plan as SoundPlan;
}
