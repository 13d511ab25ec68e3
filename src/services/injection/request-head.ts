/** The head of a request with the value in it: once, where the binding names it, and nothing else changed. */
import type { SecretDestination } from "../../contract/secret/binding.ts";
import type { OutgoingRequest } from "../../ports/injection.ts";
import type { SentCredentials } from "./sent-credentials.ts";
import { withParameter } from "./request-query.ts";

/** SECURITY: an answer in parts or packed could carry the value past the mask, a part at a time. */
const readableOnly = new Set(["accept-encoding", "range", "if-range"]);

export interface InjectedHead {
  readonly headers: string[];
  readonly path: string;
}

/** The box's headers without the placeholders that stood for the credential. */
export function withoutCredentials({ headers }: OutgoingRequest, sent: SentCredentials): string[] {
  return headers.filter((_, i) => !sent.headers.has(i - (i % 2)));
}

export function injectedHead(
  request: OutgoingRequest,
  sent: SentCredentials,
  as: Exclude<SecretDestination["as"], { kind: "aws" }>,
  value: string,
): InjectedHead {
  const rest = withoutCredentials(request, sent);
  const headers = rest.filter((_, i) => {
    const name = rest[i - (i % 2)]!.toLowerCase();
    // An extension may pack messages; without an offer the server cannot choose one.
    return !readableOnly.has(name) && !(request.isUpgrade && name === "sec-websocket-extensions");
  });
  headers.push("Accept-Encoding", "identity", ...credentialHeader(as, value));
  const path =
    as.kind === "query" ? withParameter(sent.target, as.name, value, sent.parameters[0]) : request.path;
  return { headers, path };
}

function credentialHeader(as: Exclude<SecretDestination["as"], { kind: "aws" }>, value: string): string[] {
  if (as.kind === "query") return [];
  if (as.kind === "header") return [as.name, `${as.prefix}${value}`];
  const basic = (username: string): string => Buffer.from(`${username}:${value}`).toString("base64");
  return ["Authorization", as.kind === "bearer" ? `Bearer ${value}` : `Basic ${basic(as.username)}`];
}
