/** The rule that "Allow this" makes from a denied connection. Pure. */
import type { AllowEgress, EgressRecord } from "../../../src/contract/network/egress.ts";
import { targetText } from "../../../src/contract/network/egress-words.ts";
import { durationLabel } from "../inbox/answer-words.ts";

/** Reasons that a rule can answer; the others no rule opens. */
const openable = new Set(["no_rule", "wrong_port", "wrong_method", "wrong_path", "expired", "not_approved"]);

export const canAllow = (reason: string | undefined): boolean => reason !== undefined && openable.has(reason);

export type Target = Pick<EgressRecord, "host" | "port"> & {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
};

/** Whether a rule could be for one request only: its path must be known, and no pattern. */
export const hasRequest = ({ method, path }: Target): boolean =>
  method !== undefined && /^[A-Z]{1,32}$/.test(method) && path !== undefined && !path.includes("*");

export interface AllowChoice {
  readonly isWholeHost: boolean;
  readonly scope: "box" | "project";
  readonly ttlMs: number;
}

export function allowOf(target: Target, { isWholeHost, scope, ttlMs }: AllowChoice): AllowEgress {
  const { host, port, method, path } = target;
  const isRequest = !isWholeHost && hasRequest(target);
  return { host, port, scope, ttlMs, ...(isRequest ? { method, path: path?.replace(/\?.*$/s, "") } : {}) };
}

/** The sentence above the button, made from what is sent. */
export function allowSentence(
  box: string,
  { host, port, method, path, scope, ttlMs = 0 }: AllowEgress,
): string {
  const what =
    method === undefined ? `reach ${host} on port ${port}` : targetText({ host, port, method, path });
  const whom = scope === "box" ? `Let the box ${box}` : `Let ${box} and every other box of its project`;
  return `${whom} ${what}, for ${durationLabel(ttlMs)}.`;
}
