import { z } from "zod";
import type { Overrides } from "./request-overrides.ts";

/**
 * The network policy of one box, compiled from all layers when the box is made or the policy is reloaded. Everything
 * the gate decides follows from this value alone; `core/policy/decide-egress.ts` is the one function that does.
 */
export const PolicyLayer = z.enum(["built-in", "host", "user", "project", "flag", "approval"]);
export type PolicyLayer = z.infer<typeof PolicyLayer>;

/** Where a rule was written, for "how do I change this". */
export const RuleOrigin = z.object({
  layer: PolicyLayer,
  file: z.string().optional(),
  line: z.int().optional(),
});
export type RuleOrigin = z.infer<typeof RuleOrigin>;

/** `example.org` itself, or with `isWildcard` everything below it (and not itself). */
export const HostPattern = z.object({ name: z.string(), isWildcard: z.boolean() });
export type HostPattern = z.infer<typeof HostPattern>;

export const NetworkRule = z.object({
  /** Stable and readable, such as `project:allow[0]`, `preset:npm`, `approval:7`. */
  id: z.string(),
  origin: RuleOrigin,
  mode: z.enum(["allow", "ask", "deny"]),
  host: HostPattern,
  /** Empty: 80 and 443; for a denial, all. */
  ports: z.array(z.int().min(1).max(65_535)),
  /** Empty: all. With methods or paths the connection is inspected. */
  methods: z.array(z.string()),
  /** Path patterns: `*` within a segment, `**` across segments. Empty: all. */
  paths: z.array(z.string()),
  inspect: z.boolean(),
  expiresAtMs: z.int().optional(),
});
export type NetworkRule = z.infer<typeof NetworkRule>;

/** One private address that a box may reach although it lies in a forbidden range, with a person's reason. */
export const AddressException = z.object({
  name: z.string().describe("The name under which the box reaches it."),
  address: z.string().describe("IPv4 or IPv6 address."),
  port: z.int().min(1).max(65_535),
  reason: z.string(),
  origin: RuleOrigin,
});
export type AddressException = z.infer<typeof AddressException>;

export const NetworkPolicy = z.object({
  /** The answer for a host that no rule names. */
  default: z.enum(["deny", "ask"]),
  /** Records what was wanted and lets nothing more through than the rules do. */
  isLearning: z.boolean(),
  /** Rules that set the upper bound: host and user policy. A request must pass every bound that is not empty. */
  bounds: z.array(z.object({ layer: PolicyLayer, rules: z.array(NetworkRule) })),
  /** Denials first, then allows and asks; the most specific host wins among the rest. */
  rules: z.array(NetworkRule),
  exceptions: z.array(AddressException),
});
export type NetworkPolicy = z.infer<typeof NetworkPolicy>;

export const noNetwork: NetworkPolicy = {
  default: "deny",
  isLearning: false,
  bounds: [],
  rules: [],
  exceptions: [],
};

/** The question to a policy. Before a request is read, method and path are unknown. */
export interface EgressRequest {
  readonly host: string;
  readonly port: number;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  /** Other parts of the request that a server may obey in place of its method or path. */
  readonly overrides?: Overrides | undefined;
}

/** A decision is a value; an error inside a decision means deny. */
export type EgressDecision =
  | {
      readonly outcome: "allow";
      readonly host: string;
      readonly rule: NetworkRule;
      /** Whether requests must be read before they pass: some rule for this host has methods, paths or `inspect`. */
      readonly mustInspect: boolean;
      readonly exception?: AddressException | undefined;
    }
  | {
      readonly outcome: "ask";
      readonly host: string;
      readonly rule?: NetworkRule | undefined;
      readonly reason: DenyReason;
    }
  | {
      readonly outcome: "deny";
      readonly host: string;
      readonly rule?: NetworkRule | undefined;
      readonly reason: DenyReason;
    };

/** Why a secret did not go into a request. */
export type SecretDenial =
  | "secret_not_granted"
  | "secret_unavailable"
  | "secret_misplaced"
  | "secret_unusable"
  | "foreign_credential"
  | "secret_in_answer";

export type DenyReason =
  | SecretDenial
  | "bad_host"
  | "raw_address"
  | "reserved_name"
  | "forbidden_range"
  | "no_rule"
  | "rule_denies"
  | "outside_bound"
  | "wrong_port"
  | "wrong_method"
  | "wrong_path"
  | "expired"
  | "name_mismatch"
  | "not_http"
  | "not_inspectable"
  | "unresolvable"
  | "unreachable"
  | "limit"
  | "not_approved"
  | "malformed"
  | "overridden"
  | "policy_error";
