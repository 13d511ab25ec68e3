/**
 * Every request of a sign-in goes through here: https (or to this host itself), no redirect followed, an end in time,
 * and an answer of bounded size.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { parseJsonObject } from "../../base/json.ts";
import { isLoopback } from "../../base/url-address.ts";
import { readBounded } from "../../host/read-bounded.ts";

export const requestTimeoutMs = 10_000;
const maxAnswerBytes = 1024 * 1024;

export interface Request {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | URLSearchParams | ReadableStream | ArrayBuffer | null | undefined;
  readonly signal?: AbortSignal | undefined;
}
export type BoundedFetch = (url: string, request: Request) => Promise<Response>;

/** SECURITY: tokens and codes are sent here, so a server without TLS is refused unless it is this host. */
export function checkAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe =
    url !== undefined &&
    url.username === "" &&
    url.password === "" &&
    (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url)));
  if (!isSafe) {
    throw new AgentBoxError("connection.failed", "An address of the sign-in is not an https:// URL.", {
      hint: "Tokens are only sent over https, or to this host itself.",
    });
  }
  return url;
}

export const boundedFetch =
  (timeoutMs = requestTimeoutMs): BoundedFetch =>
  async (text, { method, headers, body, signal }) => {
    const url = checkAddress(text);
    const limit = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(url, {
      method,
      headers: { ...headers },
      body: body ?? null,
      // SECURITY: a redirect would carry the code, the client's secret or the refresh token to another host.
      redirect: "manual",
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    const content = await readAnswer(answer);
    return new Response(answer.status === 204 || answer.status === 304 ? null : content, {
      status: honestStatus(answer.status, content),
      headers: keptHeaders(answer.headers),
    });
  };

/** The headers that a reader of the answer may need; the length and the encoding no longer are the server's. */
function keptHeaders(headers: Headers): Headers {
  const kept = new Headers();
  for (const name of ["content-type", "www-authenticate", "retry-after"]) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}

async function readAnswer({ body }: Response): Promise<string> {
  const bytes = body === null ? Buffer.alloc(0) : await readBounded(body, maxAnswerBytes);
  if (bytes !== undefined) return bytes.toString("utf8");
  throw new AgentBoxError("connection.failed", "The service's answer is larger than any answer may be.");
}

/** GitHub answers errors with 200, which would pass for a token answer without a token. */
function honestStatus(status: number, body: string): number {
  if (status !== 200 || !body.startsWith("{")) return status;
  const fields = parseJsonObject(body);
  return typeof fields?.["error"] === "string" && fields["access_token"] === undefined ? 400 : status;
}
