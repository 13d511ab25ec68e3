/** The gate's decision, in words. */
import { printable } from "../../base/printable.ts";
import type { DenyReason } from "./policy.ts";

const reasons: Readonly<Record<DenyReason, string>> = {
  bad_host: "not a usable host name",
  raw_address: "an address instead of a name",
  reserved_name: "a name that is reserved for AgentBox or the local machine",
  forbidden_range: "leads to a private or reserved address",
  no_rule: "no rule names this host",
  rule_denies: "a rule denies it",
  outside_bound: "outside what host or user policy permits",
  wrong_port: "not on this port",
  wrong_method: "not with this method",
  wrong_path: "not on this path",
  expired: "the rule has expired",
  name_mismatch: "TLS name, Host and target differ",
  not_http: "not HTTP, which the rule needs",
  not_inspectable: "cannot be inspected, which the rule needs",
  unresolvable: "the name does not resolve",
  unreachable: "the server cannot be reached",
  limit: "over a limit of the gate",
  not_approved: "no person has agreed",
  malformed: "malformed",
  overridden: "a header or parameter could replace the method or path",
  policy_error: "the policy is broken",
  secret_not_granted: "no person has agreed to this use of a secret",
  secret_unavailable: "its secret could not be had",
  secret_misplaced: "a placeholder where no secret may go",
  secret_unusable: "its secret cannot be put into this request",
  foreign_credential: "a credential of the box's own",
  secret_in_answer: "an answer that cannot be searched for its secret",
};

/** Why, in words; a reason of a newer daemon stays as it is. */
export const reasonText = (reason: string | undefined): string =>
  reason === undefined
    ? "-"
    : Object.hasOwn(reasons, reason)
      ? reasons[reason as DenyReason]
      : printable(reason);

interface Target {
  readonly host: string;
  readonly port: number;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
}

/** `GET example.com:443/v1`: as much of it as is known. SECURITY: path and method are the box's own words. */
export const targetText = ({ host, port, method, path }: Target): string =>
  printable(`${method === undefined ? "" : `${method} `}${host}:${port}${path ?? ""}`);
