/** How boxes are marked at an engine, and found again: by label alone, never by the name of a container. */
import { createHash } from "node:crypto";
import { AgentBoxError } from "../../../base/errors.ts";
import { BoxName } from "../../../contract/box.ts";

export const label = { owner: "agentbox.owner", box: "agentbox.box", runtime: "agentbox.runtime" } as const;

/** Tells this installation's boxes from another's at the same engine: its boxes live in another directory. */
export const installationId = (realBoxesDir: string): string =>
  createHash("sha256").update(realBoxesDir).digest("hex").slice(0, 12);

export const containerName = (box: string): string => `agentbox-${box}`;

export function checkName(name: string): void {
  // SECURITY: the name becomes part of paths, of a container's name and of its labels.
  if (BoxName.safeParse(name).success) return;
  throw new AgentBoxError("box.name_invalid", `${JSON.stringify(name)} is not a name for a box.`, {
    hint: "Use lower-case words joined by hyphens, such as team-app-backend.",
  });
}

export interface Installation {
  readonly id: string;
  /** Name of the runtime: two of them may share one engine. */
  readonly runtime: string;
}

export const ownLabels = ({ id, runtime }: Installation, box: string): Readonly<Record<string, string>> => ({
  [label.owner]: id,
  [label.runtime]: runtime,
  [label.box]: box,
});

/** The filter for the engine: every box of this installation and runtime, or one of them. */
export const labelFilter = ({ id, runtime }: Installation, box?: string): readonly string[] => [
  `${label.owner}=${id}`,
  `${label.runtime}=${runtime}`,
  ...(box === undefined ? [] : [`${label.box}=${box}`]),
];

/** SECURITY: facts for people. None may pose as one of ours, or write to a terminal that shows it. */
export function checkLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const reserved: readonly string[] = Object.values(label);
  for (const [name, value] of Object.entries(labels)) {
    const isPlain = /^[a-z][a-z0-9.-]{0,62}$/.test(name) && !reserved.includes(name);
    if (isPlain && value.length <= 256 && /^[\u0020-\u007e]*$/.test(value)) continue;
    throw new AgentBoxError("input.invalid", `The label ${JSON.stringify(name)} cannot be put on a box.`);
  }
  return labels;
}
