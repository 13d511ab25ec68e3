/** What a program in a box is told when the gate refuses, so that a person and an agent can both act on it. */
import type { DenyReason, NetworkRule } from "../../contract/network/policy.ts";

export interface Denial {
  readonly box: string;
  readonly host: string;
  readonly port: number;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly reason: DenyReason;
  readonly rule?: NetworkRule | undefined;
  /** More than the reason says, such as what the server's name resolved to. */
  readonly detail?: string | undefined;
}

const sentences: Record<DenyReason, (where: string) => string> = {
  bad_host: () => "The host name is not one that can be judged.",
  raw_address: (where) => `${where} is an address; boxes reach hosts by name only.`,
  forbidden_range: (where) => `${where} leads to a private, local or metadata address.`,
  reserved_name: (where) => `${where} is a name of the local network, which no box may reach.`,
  no_rule: (where) => `No rule lets this box reach ${where}.`,
  rule_denies: (where) => `A rule denies ${where}.`,
  outside_bound: (where) => `The policy of this host or user does not let boxes reach ${where}.`,
  wrong_port: (where) => `${where} is not a port that the rule for this host allows.`,
  wrong_method: (where) => `The rules for ${where} do not allow this method.`,
  wrong_path: (where) => `The rules for ${where} do not allow this path.`,
  expired: (where) => `The rule that allowed ${where} has expired.`,
  name_mismatch: (where) => `The connection was made to ${where}, but the request names another host.`,
  not_http: (where) => `Requests to ${where} must be read before they pass, and this is not HTTP.`,
  not_inspectable: (where) =>
    `Requests to ${where} must be read before they pass, and this connection cannot be.`,
  unresolvable: (where) => `${where} could not be resolved.`,
  unreachable: (where) => `${where} could not be reached.`,
  limit: () => "This box has reached a limit of the gate.",
  not_approved: (where) => `Nobody agreed to this box reaching ${where}.`,
  malformed: () => "The request cannot be read in exactly one way.",
  policy_error: () => "The policy of this box could not be applied.",
};

const statuses: Partial<Record<DenyReason, number>> = {
  name_mismatch: 421,
  malformed: 400,
  limit: 429,
  unresolvable: 502,
  unreachable: 502,
};

/** The server's failure, and not a decision of the policy. */
const isFailure = (reason: DenyReason): boolean => reason === "unresolvable" || reason === "unreachable";

export interface DenialAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

export function denialAnswer(denial: Denial): DenialAnswer {
  const failed = isFailure(denial.reason);
  const where = `${denial.host}:${denial.port}`;
  const body = `${JSON.stringify({
    error: {
      code: failed ? "egress.failed" : "egress.denied",
      by: "AgentBox",
      box: denial.box,
      host: denial.host,
      port: denial.port,
      method: denial.method,
      path: denial.path,
      rule: denial.rule?.id,
      layer: denial.rule?.origin.layer,
      reason: denial.reason,
      message: denial.detail ?? sentences[denial.reason](where),
      hint: hintFor(denial),
    },
  })}\n`;
  return {
    status: statuses[denial.reason] ?? 403,
    headers: [
      "content-type",
      "application/json",
      "content-length",
      String(Buffer.byteLength(body)),
      "x-agentbox",
      failed ? "failed" : "denied",
      "cache-control",
      "no-store",
    ],
    body,
  };
}

/** The same answer as text, for a socket that no HTTP server holds. */
export function denialText(denial: Denial): string {
  const { status, headers, body } = denialAnswer(denial);
  const lines = [`HTTP/1.1 ${status} ${statusText(status)}`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return `${lines.join("\r\n")}\r\nconnection: close\r\n\r\n${body}`;
}

const statusText = (status: number): string =>
  ({ 400: "Bad Request", 403: "Forbidden", 421: "Misdirected Request", 429: "Too Many Requests" })[status] ??
  "Bad Gateway";

function hintFor({ box, host, port, reason }: Denial): string {
  if (isFailure(reason)) return "This was the server or the network behind the gate, not the policy.";
  if (reason === "limit") return "Slow down and try again.";
  if (reason === "malformed" || reason === "bad_host") return "Send a plain request to a host name.";
  const url = `${port === 80 ? "http" : "https"}://${host}${port === 80 || port === 443 ? "" : `:${port}`}/`;
  return `Ask a person to run on the host: agentbox policy explain --box ${box} ${url}`;
}
