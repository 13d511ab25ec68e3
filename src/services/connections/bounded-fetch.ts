/**
 * Every request of a sign-in goes through here: https (or what the caller lets through), no redirect followed, an
 * end in time, and an answer of bounded size.
 */
import { AgentBoxError } from "../../base/errors.ts";

export const requestTimeoutMs = 10_000;
const maxAnswerBytes = 1024 * 1024;

export interface Request {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | URLSearchParams | ReadableStream | ArrayBuffer | null | undefined;
  readonly signal?: AbortSignal | undefined;
}
export type BoundedFetch = (url: string, request: Request) => Promise<Response>;

const loopback = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** SECURITY: tokens and codes are sent here, so a place without TLS is refused unless it is this very host. */
export function checkPlace(text: string, allowInsecure: (url: URL) => boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe =
    url !== undefined &&
    url.username === "" &&
    url.password === "" &&
    (url.protocol === "https:" ||
      (url.protocol === "http:" && (loopback.has(url.hostname) || allowInsecure(url))));
  if (!isSafe) {
    throw new AgentBoxError("connection.failed", "An address of the sign-in is not an https:// URL.", {
      hint: "Tokens are only sent over https, or to this host itself.",
    });
  }
  return url;
}

export const boundedFetch =
  (allowInsecure: (url: URL) => boolean, timeoutMs = requestTimeoutMs): BoundedFetch =>
  async (text, { method, headers, body, signal }) => {
    const url = checkPlace(text, allowInsecure);
    const limit = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(url, {
      method,
      headers: { ...headers },
      body: body ?? null,
      // SECURITY: a redirect would carry the code, the client's secret or the refresh token to another host.
      redirect: "manual",
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    const content = await readBounded(answer);
    return new Response(answer.status === 204 || answer.status === 304 ? null : content, {
      status: honestStatus(answer.status, content),
      headers: keptHeaders(answer.headers),
    });
  };

/** What a reader of the answer may need; the length and the encoding are no longer those of the server. */
function keptHeaders(headers: Headers): Headers {
  const kept = new Headers();
  for (const name of ["content-type", "www-authenticate", "retry-after"]) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}

async function readBounded(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.byteLength;
    if (size > maxAnswerBytes) {
      throw new AgentBoxError("connection.failed", "The service's answer is larger than any answer may be.");
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** GitHub answers errors with 200, which would pass for a token answer without a token. */
function honestStatus(status: number, body: string): number {
  if (status !== 200 || !body.startsWith("{")) return status;
  const fields = parseObject(body);
  return typeof fields?.["error"] === "string" && fields["access_token"] === undefined ? 400 : status;
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
