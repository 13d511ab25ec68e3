/** The answer that a program in a box gets when the gate refuses, so that a person and an agent can both act on it. */
import type { DenyReason, NetworkRule, SecretDenial } from "../../../contract/network/policy.ts";

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
  /** The way out, where it is known better than from the reason. */
  readonly hint?: string | undefined;
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
  not_approved: (where) => `No person agreed to this box reaching ${where}.`,
  malformed: () => "The request cannot be read in exactly one way.",
  overridden: (where) =>
    `A header or parameter could make ${where} do something else than the method and path say, and rules decide by them.`,
  policy_error: () => "The policy of this box could not be applied.",
  secret_not_granted: (where) => `No person agreed to this box using a secret for ${where}.`,
  secret_unavailable: (where) => `The secret that ${where} needs could not be had, so nothing was sent.`,
  secret_misplaced: (where) =>
    `The request to ${where} has a placeholder in a place where no secret may be put.`,
  secret_unusable: (where) => `The secret for ${where} cannot be put into this request.`,
  foreign_credential: (where) =>
    `Credentials for ${where} come from the host; the request has one of its own.`,
  secret_in_answer: (where) =>
    `The answer of ${where} could not be searched for the secret, so it was not passed on.`,
};

const statuses: Partial<Record<DenyReason, number>> = {
  name_mismatch: 421,
  malformed: 400,
  limit: 429,
  unresolvable: 502,
  unreachable: 502,
  secret_unavailable: 503,
  secret_in_answer: 502,
};

/** The server's failure, and not a decision of the policy. */
const isFailure = (reason: DenyReason): boolean => reason === "unresolvable" || reason === "unreachable";

export interface DenialAnswer {
  readonly status: number;
  /** The reason phrase of HTTP/1.1: all that pip, Go, wget, Java and Python show of a refusal. */
  readonly phrase: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Clients that show an answer only when it is plain text: git as `remote:` lines, Go as "server response". */
const plainTextClients = /^(?:git\/|go-http-client\/|go\/)/i;

/** `userAgent` is the client's own word for itself, and decides only how the answer looks. */
export function denialAnswer(denial: Denial, userAgent = ""): DenialAnswer {
  const failed = isFailure(denial.reason);
  const where = `${denial.host}:${denial.port}`;
  const message = denial.detail ?? sentences[denial.reason](where);
  const hint = denial.hint ?? hintFor(denial);
  const isPlainText = plainTextClients.test(userAgent);
  const body = isPlainText
    ? `AgentBox: ${message}\n${hint}\n`
    : `${JSON.stringify({
        // npm prints this field as it is.
        error: `AgentBox: ${message} ${hint}`,
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
        message,
        hint,
      })}\n`;
  return {
    status: statuses[denial.reason] ?? 403,
    phrase: phraseOf(`${failed ? "AgentBox" : "Denied by AgentBox"}: ${message}`, denial.box),
    headers: [
      "content-type",
      isPlainText ? "text/plain; charset=utf-8" : "application/json",
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

const maxPhraseLength = 240;

/** SECURITY: host names and details come from the box; a line break in the phrase would be a header. */
function phraseOf(text: string, box: string): string {
  const line = text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, maxPhraseLength);
  return `${line} Details: agentbox net ${box}`;
}

/** The same answer as text, for a socket that no HTTP server holds. */
export function denialText(denial: Denial): string {
  const { status, phrase, headers, body } = denialAnswer(denial);
  const lines = [`HTTP/1.1 ${status} ${phrase}`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return `${lines.join("\r\n")}\r\nconnection: close\r\n\r\n${body}`;
}

/** One line for protocols that have room for one. */
export const denialLine = (denial: Denial): string => denialAnswer(denial).phrase;

const personHint = "Ask a person to look at the secret on the host: agentbox vault ls";
const secretHints: Record<SecretDenial, string> = {
  secret_not_granted: personHint,
  secret_unavailable: personHint,
  secret_misplaced: "Send placeholders only as a credential of the host they are for.",
  secret_unusable: personHint,
  foreign_credential: "Send the request without a credential; the gate puts it in.",
  secret_in_answer: "Ask for the answer without a content encoding.",
};

export const isSecretDenial = (reason: DenyReason): reason is SecretDenial => reason in secretHints;

function hintFor({ box, host, port, reason }: Denial): string {
  if (isFailure(reason)) return "This was the server or the network behind the gate, not the policy.";
  if (isSecretDenial(reason)) return secretHints[reason];
  if (reason === "limit") return "Slow down and try again.";
  if (reason === "malformed" || reason === "bad_host") return "Send a plain request to a host name.";
  if (reason === "overridden") return "Send the method and the path themselves.";
  const url = `${port === 80 ? "http" : "https"}://${host}${port === 80 || port === 443 ? "" : `:${port}`}/`;
  return `Ask a person to run on the host: agentbox policy explain --box ${box} ${url}`;
}
