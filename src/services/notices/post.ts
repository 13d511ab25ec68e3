/**
 * One POST of JSON to the address that a person gave, and to no other: redirects are answers like any other. SECURITY:
 * unless its owner may order, the address that is dialled must be a public one, whatever its name leads to.
 */
import { lookup } from "node:dns";
import { type RequestOptions, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import type { SecureContext } from "node:tls";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { portOf } from "../../base/url-address.ts";
import { version } from "../../base/version.ts";
import { forbiddenRange } from "../../contract/network/address-ranges.ts";
import { openTunnel } from "../../host/proxy-tunnel.ts";
import { readServerTrust } from "../../host/server-trust.ts";

export interface Post {
  readonly url: URL;
  readonly mayBePrivate: boolean;
  readonly value: unknown;
  readonly token?: string | undefined;
}

export function openPost(options: {
  readonly proxy: string | undefined;
  readonly timeoutMs: number;
}): (post: Post) => Promise<void> {
  return async (post) => {
    const signal = AbortSignal.timeout(options.timeoutMs);
    const status = await send(post, options, signal).catch((error: unknown) => {
      const isRefused = error instanceof AgentBoxError && !error.isRetryable;
      throw undeliverable(post.url, signal.aborted ? "no answer in time" : reasonOf(error), !isRefused);
    });
    if (status >= 200 && status < 300) return;
    // A final refusal is not tried again: a webhook that was removed, a wrong token.
    const isPassing = status === 408 || status === 429 || status >= 500;
    throw undeliverable(post.url, `it answered ${status}`, isPassing);
  };
}

async function send(
  { url, mayBePrivate, value, token }: Post,
  { proxy, timeoutMs }: { readonly proxy: string | undefined; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<number> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  // An address that stands in the URL is never looked up.
  if (!mayBePrivate && isIP(host) !== 0) requirePublic([host]);
  const text = JSON.stringify(value);
  const isSecure = url.protocol === "https:";
  const socket =
    proxy === undefined
      ? undefined
      : await openTunnel(new URL(proxy), { host: url.hostname, port: portOf(url) }, timeoutMs);
  const options: RequestOptions & { readonly secureContext?: SecureContext } = {
    method: "POST",
    signal,
    agent: false,
    ...(mayBePrivate ? {} : { lookup: publicLookup }),
    headers: {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      "user-agent": `agentbox/${version}`,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(isSecure ? { secureContext: await readServerTrust([]) } : {}),
    ...(socket === undefined ? {} : isSecure ? { socket } : { createConnection: () => socket }),
  };
  return await new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(url, options);
    request.once("response", (answer) => {
      answer.destroy();
      resolve(answer.statusCode ?? 0);
    });
    request.once("error", reject);
    request.end(text);
  });
}

/** The address that was judged is the one that is dialled. */
const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error) return done(error, "");
    try {
      requirePublic(found.map(({ address }) => address));
    } catch (refusal) {
      return done(refusal as NodeJS.ErrnoException, "");
    }
    if (options.all === true) return done(null, found);
    const [first] = found;
    return first ? done(null, first.address, first.family) : done(notPublic(), "");
  });
};

function requirePublic(addresses: readonly string[]): void {
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  if (addresses.length === 0 || addresses.some((address) => forbiddenRange(address, own) !== undefined))
    throw notPublic();
}

const notPublic = (): AgentBoxError => new AgentBoxError("notice.refused", "its address is not a public one");

/** Never more of an error than its kind: some quote the address, and an address may be a credential. */
const reasonOf = (error: unknown): string =>
  error instanceof AgentBoxError ? error.message : (systemCode(error) ?? "it cannot be reached");

const undeliverable = ({ host }: URL, why: string, isPassing: boolean): AgentBoxError =>
  new AgentBoxError(
    isPassing ? "notice.undeliverable" : "notice.refused",
    `No notice can be sent to ${host}: ${why}.`,
    {
      hint: "Check its address: agentbox notify ls",
    },
  );
