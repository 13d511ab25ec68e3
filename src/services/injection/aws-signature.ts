/**
 * AWS's signature version 4, made again with another key. Services disagree about how a path and a query are written
 * for signing, and the program knows its service: whichever way verifies what the program signed with the placeholder
 * is the way the new signature is made. A request that was not signed with the placeholder has none.
 */
import { createHash, createHmac } from "node:crypto";
import type { AwsKey } from "../../contract/secret/aws-key.ts";
import type { AwsAuthorization } from "./aws-authorization.ts";
import { decodePercent } from "./request-query.ts";

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  /** The values that may have been sent as Host. */
  readonly hosts: readonly string[];
  readonly headers: readonly string[];
  /** As in `x-amz-date`. */
  readonly dateTime: string;
  readonly payloadHash: string;
}

interface Spelling {
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

export const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** The signature of one reading of the request. */
function signatureOf(
  request: SignedRequest,
  spelling: Spelling,
  { date, region, service, scope }: AwsAuthorization,
  signedHeaders: readonly string[],
  secretKey: string,
): string {
  const values = headerValues(request.headers).set("host", spelling.host);
  const canonical = [
    request.method,
    spelling.path,
    spelling.query,
    ...signedHeaders.map((name) => `${name}:${values.get(name) ?? ""}`),
    "",
    signedHeaders.join(";"),
    request.payloadHash,
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", request.dateTime, scope, sha256(canonical)].join("\n");
  const signingKey = [region, service, "aws4_request"].reduce(hmac, hmac(`AWS4${secretKey}`, date));
  return hmac(signingKey, text).toString("hex");
}

function headerValues(headers: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    const value = headers[i + 1]!.trim().replaceAll(/ +/g, " ");
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before},${value}`);
  }
  return values;
}

/** Headers with the new signature, and the signature itself; undefined: it was not made with the placeholder. */
export function signAgain(
  request: SignedRequest,
  authorization: AwsAuthorization,
  placeholderKey: string,
  key: AwsKey,
): { readonly headers: string[]; readonly signature: string } | undefined {
  const { signedHeaders, signature: sent, scope } = authorization;
  const spelling = spellings(request).find(
    (one) => signatureOf(request, one, authorization, signedHeaders, placeholderKey) === sent,
  );
  if (spelling === undefined) return undefined;
  const token = key.sessionToken === undefined ? [] : ["x-amz-security-token", key.sessionToken];
  const headers = [...request.headers, ...token];
  const names = token.length === 0 ? signedHeaders : [...signedHeaders, token[0]!].sort();
  const signature = signatureOf({ ...request, headers }, spelling, authorization, names, key.secretAccessKey);
  headers.push(
    "Authorization",
    `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  );
  return { headers, signature };
}

/** The ways that are in use: S3 signs the path as it is sent, others encode it once more; curl sorts no query. */
function spellings({ path: target, hosts }: SignedRequest): Spelling[] {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? "" : target.slice(mark + 1);
  const once = encodePath(decodePercent(path));
  const paths = new Set([path, encodePath(path), once, encodePath(once)]);
  const queries = new Set([sortedQuery(query), sortedQuery(query.replaceAll("+", "%20")), query]);
  return hosts.flatMap((host) =>
    [...paths].flatMap((path) => [...queries].map((query) => ({ host, path, query }))),
  );
}

function sortedQuery(query: string): string {
  const pieces = query.split("&").filter((piece) => piece !== "");
  const pairs = pieces.map((piece) => {
    const equals = piece.indexOf("=");
    const [name, value] = equals < 0 ? [piece, ""] : [piece.slice(0, equals), piece.slice(equals + 1)];
    return [encode(decodePercent(name)), encode(decodePercent(value))] as const;
  });
  pairs.sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1));
  return pairs.map(([name, value]) => `${name}=${value}`).join("&");
}

const encode = (bytes: string): string =>
  bytes.replaceAll(
    /[^A-Za-z0-9\-._~]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
const encodePath = (path: string): string => path.split("/").map(encode).join("/");
