/**
 * Servers of the test's internet that want a credential: a code host's API, a registry, a store that checks signatures,
 * and a mirror, which sends back whatever it was sent in every way that a careless or hostile server could.
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";

export interface Credentials {
  /** Taken as a bearer, as a password, in a header and in a query. */
  readonly token: string;
  readonly aws: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;
type Serve = (request: Request, response: Response, url: URL, body: Buffer) => void | Promise<void>;

let credentials: Credentials | undefined;
/** Packages that were published, and objects that were put, until the process ends. */
const packages = new Map<string, unknown>();
const objects = new Map<string, Buffer>();

export const setCredentials = (next: Credentials): void => {
  credentials = next;
};

const header = (request: Request, name: string): string => String(request.headers[name] ?? "");

function isToken(text: string): boolean {
  const [given, wanted] = [Buffer.from(text), Buffer.from(credentials?.token ?? "")];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

const bearerOf = (request: Request): string =>
  /^(?:Bearer|token) (.+)$/i.exec(header(request, "authorization"))?.[1] ?? "";

/** The password of basic authentication. */
function passwordOf(request: Request): string {
  const [, encoded = ""] = /^Basic (.+)$/.exec(header(request, "authorization")) ?? [];
  return Buffer.from(encoded, "base64")
    .toString()
    .replace(/^[^:]*:/, "");
}

export const mayUseGit = (request: Request): boolean => isToken(passwordOf(request));

function answer(
  response: Response,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (!response.hasHeader("content-type")) response.setHeader("content-type", "application/json");
  (response as ServerResponse).end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

const wanted = (response: Response): void =>
  answer(response, 401, { message: "Bad credentials" }, { "www-authenticate": 'Basic realm="code"' });

/** As GitHub Enterprise answers `gh api`. */
const serveCode: Serve = (request, response, { pathname }, body) => {
  if (!isToken(bearerOf(request))) return wanted(response);
  answer(response, 200, { login: "octocat", path: pathname, method: request.method, bodyBytes: body.length });
};

/** As much of a registry as `npm publish` and `npm view` need. */
const serveRegistry: Serve = (request, response, { pathname }, body) => {
  if (!isToken(bearerOf(request))) return wanted(response);
  const name = decodeURIComponent(pathname.slice(1));
  if (name === "-/whoami") return answer(response, 200, { username: "publisher" });
  if (request.method === "PUT") {
    packages.set(name, JSON.parse(body.toString()));
    return answer(response, 201, { ok: true });
  }
  const found = packages.get(name);
  return found === undefined ? answer(response, 404, { error: "not found" }) : answer(response, 200, found);
};

/** An object store: what is not signed with the real key is refused. */
const serveBucket: Serve = async (request, response, url, body) => {
  const refusal = await whyNotSigned(request, url, body);
  if (refusal !== undefined)
    return answer(response, 403, { code: "SignatureDoesNotMatch", message: refusal });
  if (request.method === "PUT") {
    objects.set(url.pathname, body);
    return answer(response, 200, {}, { etag: '"1"' });
  }
  const object = objects.get(url.pathname);
  answer(response, object ? 200 : 404, object ?? {}, { "content-type": "application/octet-stream" });
};

/** Signs the request again with AWS's own library, and compares. */
async function whyNotSigned(request: Request, url: URL, body: Buffer): Promise<string | undefined> {
  const sent = header(request, "authorization");
  const [, id, , region, service, names = "", signature = ""] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      sent,
    ) ?? [];
  if (credentials === undefined || id !== credentials.aws.accessKeyId) return "unknown key";
  const date = header(request, "x-amz-date").replace(
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
    "$1-$2-$3T$4:$5:$6Z",
  );
  const signer = new SignatureV4({
    service: service ?? "",
    region: region ?? "",
    credentials: credentials.aws,
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const headers = Object.fromEntries(names.split(";").map((name) => [name, header(request, name)]));
  const host = String(request.headers[":authority"] ?? request.headers.host);
  const payload = { "x-amz-content-sha256": header(request, "x-amz-content-sha256") };
  const again = await signer.sign(
    {
      method: request.method ?? "",
      protocol: "https:",
      hostname: host,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...headers, host, ...(payload["x-amz-content-sha256"] === "" ? {} : payload) },
      body,
    },
    { signingDate: new Date(date), signableHeaders: new Set(names.split(";")) },
  );
  return again.headers["authorization"]?.endsWith(signature) === true ? undefined : "another signature";
}

/** A service that takes its key in one particular place. */
const serveKeys: Serve = (request, response, { pathname, searchParams }) => {
  const ways: Record<string, string> = {
    "/header": header(request, "x-api-key").replace(/^Key /, ""),
    "/query": searchParams.get("key") ?? "",
    "/basic": passwordOf(request),
  };
  return isToken(ways[pathname] ?? "") ? answer(response, 200, { welcome: pathname }) : wanted(response);
};

/** The credential of this request, in the forms in which servers repeat one. */
function repeated(request: Request): string {
  const text = header(request, "authorization").replace(/^\w+ /, "");
  const forms = [text, encodeURIComponent(text), JSON.stringify(text), Buffer.from(text).toString("base64")];
  return [...forms, Buffer.from(`x-access-token:${text}`).toString("base64")].join("\n");
}

const packings: Record<string, (body: Buffer) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  // No server can read this one.
  "x-own": (body) => Buffer.from(body).reverse(),
};

/** The repeated text is followed by "the end", so that a test knows the answer was whole. */
const serveMirror: Serve = async (request, response, url, body) => {
  const text = `${repeated(request)}\n${JSON.stringify(request.headers)}\n${body.toString()}\nthe end\n`;
  const kind = url.pathname.slice(1);
  if (kind.startsWith("packed/")) {
    const encoding = kind.slice("packed/".length);
    const packed = packings[encoding]?.(Buffer.from(text)) ?? Buffer.from(text);
    return answer(response, 200, packed, { "content-encoding": encoding, "content-type": "text/plain" });
  }
  if (kind === "redirect") {
    const location = `${url.searchParams.get("to") ?? ""}?seen=${encodeURIComponent(repeated(request))}`;
    return answer(response, 302, Buffer.from(text), { location });
  }
  if (kind === "headers") {
    const credential = header(request, "authorization");
    return answer(response, 200, Buffer.from("the end\n"), {
      "x-echo": credential,
      "www-authenticate": `Bearer error="${credential}"`,
      "set-cookie": `session=${encodeURIComponent(credential)}`,
      etag: `"${Buffer.from(credential).toString("base64")}"`,
    });
  }
  if (kind === "pieces") {
    response.setHeader("content-type", "text/plain");
    // Each piece is a frame of its own: the next is written when the one before has left.
    for (let at = 0; at < text.length; at += 3)
      await new Promise<void>((done) =>
        (response as ServerResponse).write(text.slice(at, at + 3), () => done()),
      );
    return void response.end();
  }
  answer(response, kind === "error" ? 500 : 200, Buffer.from(text), { "content-type": "text/plain" });
};

const hosts: Record<string, Serve> = {
  "code.test": serveCode,
  "packages.test": serveRegistry,
  "bucket.test": serveBucket,
  "keys.test": serveKeys,
  "mirror.test": serveMirror,
};

export const wantsCredential = (host: string): boolean => Object.hasOwn(hosts, host);

export function serveCredentialed(host: string, request: Request, response: Response, body: Buffer): void {
  const url = new URL(request.url ?? "/", `https://${host}`);
  void Promise.resolve(hosts[host]?.(request, response, url, body)).catch((error: Error) =>
    answer(response, 500, { message: error.message }),
  );
}
