/**
 * The credentials that a request to a managed host brings along: placeholders of the box, which are taken out, or a
 * refusal. The rest has nothing in it that a server could take for a credential.
 */
import type { SecretBinding } from "../../contract/secret/binding.ts";
import type { OutgoingRequest } from "../../ports/injection.ts";
import { type AwsAuthorization, parseAwsAuthorization } from "./aws-authorization.ts";
import type { BoundDestination } from "./bound-destination.ts";
import { isCredentialHeader, isCredentialParameter, sameName, sameParameter } from "./credential-names.ts";
import type { Marks } from "./marks.ts";
import { isAws } from "./placeholder.ts";
import { type Refusal, doubled, foreign, misplacedIn } from "./refusal.ts";
import { type QueryPiece, type SplitPath, decodeLoosely, namesIn, splitPath } from "./request-query.ts";

export interface SentCredentials {
  /** Where in the header list the names of those stand that are taken out. */
  readonly headers: ReadonlySet<number>;
  readonly parameters: readonly QueryPiece[];
  /** The bindings whose placeholders they were. */
  readonly owners: ReadonlySet<SecretBinding>;
  readonly aws: AwsAuthorization | undefined;
  readonly target: SplitPath;
}

interface Reading {
  readonly all: readonly BoundDestination[];
  readonly managed: readonly BoundDestination[];
  readonly marks: Marks;
}

/** A placeholder in the head of a request to a host without a binding. */
export function markInHead(marks: Marks, { path, headers }: OutgoingRequest): Refusal | undefined {
  const inPath = secretInUrl(marks, path);
  if (inPath !== undefined) return misplacedIn("in the URL", inPath);
  const secret = marks.secretInText(headers.join("\n"));
  return secret === undefined
    ? undefined
    : misplacedIn("in a header, for a host that it is not bound to", secret);
}

const secretInUrl = (marks: Marks, text: string): string | undefined =>
  marks.secretInText(text) ?? (/[%+]/.test(text) ? marks.secretInText(decodeLoosely(text)) : undefined);

export function readCredentials(reading: Reading, request: OutgoingRequest): SentCredentials | Refusal {
  const owners = new Set<SecretBinding>();
  const headers = readHeaders(reading, request.headers, owners);
  if ("outcome" in headers) return headers;
  const target = splitPath(request.path);
  const inPath = secretInUrl(reading.marks, target.path);
  if (inPath !== undefined) return misplacedIn("in the path", inPath);
  const parameters = readParameters(reading, target, owners);
  return "outcome" in parameters ? parameters : { ...headers, parameters, owners, target };
}

function readHeaders(
  { all, managed, marks }: Reading,
  headers: readonly string[],
  owners: Set<SecretBinding>,
): Pick<SentCredentials, "headers" | "aws"> | Refusal {
  const secret = managed[0]?.binding.secret;
  const ownNames = new Set(
    managed.flatMap(({ destination: { as } }) => (as.kind === "header" ? [sameName(as.name)] : [])),
  );
  const taken = new Map<string, number>();
  let aws: AwsAuthorization | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = sameName(headers[i]!);
    const value = headers[i + 1]!.trim();
    if (!isCredentialHeader(name, value) && !ownNames.has(name)) {
      const misused = marks.secretInText(`${headers[i]!}\n${value}`);
      if (misused === undefined) continue;
      return misplacedIn(`in the header ${name}`, misused);
    }
    // SECURITY: of two, the one that is judged need not be the one that the server takes.
    if (taken.has(name)) return doubled(`the header ${name}`, secret);
    const owner = ownerOf(all, value);
    if (owner === undefined) {
      const misused = marks.secretInText(value);
      return misused === undefined
        ? foreign(name, secret)
        : misplacedIn(`in the header ${name} in a form that is not known`, misused);
    }
    taken.set(name, i);
    owners.add(owner);
    if (isAws(owner)) aws = parseAwsAuthorization(value);
  }
  return { headers: new Set(taken.values()), aws };
}

/** Whose placeholder a credential is: alone, behind a scheme, or as either half of basic authentication. */
function ownerOf(all: readonly BoundDestination[], value: string): SecretBinding | undefined {
  const keyId = parseAwsAuthorization(value)?.accessKeyId;
  const [, scheme, rest = value] = /^([A-Za-z][A-Za-z0-9-]*) +(.*)$/.exec(value) ?? [];
  const tokens = scheme?.toLowerCase() === "basic" ? basicHalves(rest) : [rest];
  return all.find(({ binding, placeholder: { token, accessKeyId } }) =>
    isAws(binding) ? keyId !== undefined && keyId === accessKeyId : tokens.includes(token),
  )?.binding;
}

/** SECURITY: only what is base64 in the one way; a reader that forgives more could see something else. */
function basicHalves(encoded: string): string[] {
  const text = Buffer.from(encoded, "base64").toString("latin1");
  if (Buffer.from(text, "latin1").toString("base64").replace(/=+$/, "") !== encoded.replace(/=+$/, ""))
    return [];
  const colon = text.indexOf(":");
  return colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)];
}

function readParameters(
  { all, managed, marks }: Reading,
  { pieces = [] }: SplitPath,
  owners: Set<SecretBinding>,
): QueryPiece[] | Refusal {
  const ownNames = managed.flatMap(({ destination: { as } }) => (as.kind === "query" ? [as.name] : []));
  const taken: QueryPiece[] = [];
  for (const piece of pieces) {
    const credential = namesIn(piece)
      .map(sameParameter)
      .find((name) => isCredentialParameter(name) || ownNames.some((own) => sameParameter(own) === name));
    const owner = all.find(
      ({ destination: { as }, placeholder }) =>
        as.kind === "query" && as.name === piece.name && placeholder.token === piece.value,
    )?.binding;
    if (credential !== undefined && owner !== undefined && ownNames.includes(piece.name)) {
      if (taken.length > 0) return doubled(`the parameter ${piece.name}`, owner.secret);
      taken.push(piece);
      owners.add(owner);
      continue;
    }
    const misused = secretInUrl(marks, piece.raw);
    if (misused !== undefined) return misplacedIn("in the query", misused);
    if (credential !== undefined) return foreign(`?${credential}=`, managed[0]?.binding.secret);
  }
  return taken;
}
