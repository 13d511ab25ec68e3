/**
 * The decision about a request, as far as its head allows one: refused, passed on without a credential, or meant for a
 * bound destination. Pure; no person has been asked and no value is known yet.
 */
import { overridesOf } from "../../contract/network/request-overrides.ts";
import type { OutgoingRequest } from "../../ports/injection.ts";
import { type CheckedAwsRequest, checkAwsRequest } from "./aws-request.ts";
import type { BoxBindings } from "./binding-table.ts";
import { type BodyEncoding, bodyEncoding } from "./body-decoder.ts";
import {
  type BoundDestination,
  chooseDestination,
  isUnclear,
  destinationsAt,
  destinationsFor,
} from "./bound-destination.ts";
import { type Refusal, misplaced, misplacedIn, unusable } from "./refusal.ts";
import { type SentCredentials, markInHead, readCredentials } from "./sent-credentials.ts";

/** A request to a bound destination, with the placeholders it brought. */
export interface Wanted {
  readonly outcome: "inject";
  readonly bound: BoundDestination;
  readonly sent: SentCredentials;
  readonly aws: CheckedAwsRequest | undefined;
  readonly encoding: BodyEncoding;
}

export type RequestDecision =
  | Refusal
  | Wanted
  | { readonly outcome: "pass"; readonly encoding: BodyEncoding };

export function decideRequest(
  { destinations, marks }: BoxBindings,
  request: OutgoingRequest,
  nowMs: number,
): RequestDecision {
  const managed = destinationsAt(destinations, request.host, request.port);
  if (managed.length === 0) {
    // A value that cannot be decoded is still searched as it is.
    return (
      markInHead(marks, request) ?? {
        outcome: "pass",
        encoding: bodyEncoding(request.headers) ?? "identity",
      }
    );
  }
  const sent = readCredentials({ all: destinations, managed, marks }, request);
  if ("outcome" in sent) return sent;
  const candidates = destinationsFor(managed, request);
  // SECURITY: whether the secret is for such a path is unknown, and nothing is silently sent without it.
  if (candidates.length === 0 && isUnclear(managed, request)) return twoReadings(managed[0]!);
  const bound = boundDestination(candidates, sent);
  if (bound !== undefined && "outcome" in bound) return bound;
  const encoding = request.hasBody ? bodyEncoding(request.headers, awsFramings(bound)) : "identity";
  if (encoding === undefined)
    return misplaced(
      managed[0]!.binding.secret,
      "The request's body is packed in a way that cannot be read for placeholders.",
      "Send it without Content-Encoding, or with gzip, deflate or br.",
    );
  return bound === undefined
    ? { outcome: "pass", encoding }
    : decideBound(bound, sent, request, { encoding, nowMs });
}

/** S3's own framing, whose pieces are looked at as they come. */
const awsFramings = (bound: BoundDestination | undefined): string[] =>
  bound?.destination.as.kind === "aws" ? ["aws-chunked"] : [];

/** A placeholder says which binding is meant, where more than one is bound here. */
function boundDestination(
  candidates: readonly BoundDestination[],
  { owners }: SentCredentials,
): BoundDestination | Refusal | undefined {
  const [owner, ...others] = owners;
  if (others.length > 0)
    return misplaced(
      owner?.secret,
      "The request has the placeholders of two secrets.",
      "Send one credential, in one header.",
    );
  const meant = owner === undefined ? candidates : candidates.filter(({ binding }) => binding === owner);
  if (owner !== undefined && meant.length === 0)
    return misplaced(
      owner.secret,
      `The request has the placeholder of the secret ${owner.secret}, which is not bound to this place.`,
      `Send it only to the host, port, methods and paths under [secrets.${owner.name}].`,
    );
  const chosen = chooseDestination(meant);
  if (chosen !== "ambiguous") return chosen;
  const names = [...new Set(meant.map(({ binding }) => binding.name))];
  return unusable(
    meant[0]!.binding.secret,
    `More than one secret is bound to this place: ${names.join(", ")}.`,
    "Narrow their paths or methods in [secrets], or send the placeholder of the one that is meant.",
  );
}

const twoReadings = ({ binding: { secret } }: BoundDestination): Refusal =>
  misplaced(
    secret,
    `The path can be read in two ways, so it is unclear whether the secret ${secret} is for it.`,
    "Send it without encoded slashes, dots and double encoding, or bind the secret without paths.",
  );

/** SECURITY: with a second word on method or path a secret that is bound to GET would be used for a DELETE. */
export function refuseOverride(
  { binding: { secret }, destination: { methods, paths } }: BoundDestination,
  override: string,
): Refusal | undefined {
  if (methods.length + paths.length === 0) return undefined;
  return misplaced(
    secret,
    `The ${override} could make the server do something else than the secret ${secret} is bound to.`,
    "Send the method and the path themselves.",
  );
}

function decideBound(
  bound: BoundDestination,
  sent: SentCredentials,
  request: OutgoingRequest,
  { encoding, nowMs }: { encoding: BodyEncoding; nowMs: number },
): RequestDecision {
  const { binding, destination } = bound;
  const overrides = overridesOf(request.headers, request.path);
  const override = overrides.method ?? overrides.path;
  const overridden = override === undefined ? undefined : refuseOverride(bound, override);
  if (overridden !== undefined) return overridden;
  const [parameter] = sent.parameters;
  if (parameter !== undefined && !(destination.as.kind === "query" && destination.as.name === parameter.name))
    return misplacedIn("in the query", binding.secret);
  if (destination.as.kind !== "aws") return { outcome: "inject", bound, sent, aws: undefined, encoding };
  const aws = checkAwsRequest(request, sent.aws, binding.secret, nowMs);
  return "outcome" in aws ? aws : { outcome: "inject", bound, sent, aws, encoding };
}
