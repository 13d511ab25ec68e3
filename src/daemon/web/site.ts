/** The web port's part besides the API: the page's files, and the ways to a session. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { AgentBoxError } from "../../base/errors.ts";
import type { Using } from "../../core/using.ts";
import { sendAsset } from "./assets.ts";
import { claim } from "./claim.ts";
import { beginSignIn, finishSignIn, takeLogoutNotice, describeSignIn } from "./team.ts";

export interface SiteRequest {
  readonly core: Using<"access" | "host" | "team">;
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the address that people use is https, so that cookies can be held to it. */
  readonly isSecure: boolean;
  /** Whether a proxy stands in front, so that connections are its own. */
  readonly hasProxy: boolean;
}

/** SECURITY: only POST, so that no link, image or prefetch begins, finishes or ends anything. */
const posts: Readonly<Record<string, (asked: SiteRequest) => Promise<void>>> = {
  "/auth/claim": claim,
  "/auth/options": describeSignIn,
  "/auth/begin": beginSignIn,
  "/auth/finish": finishSignIn,
  "/auth/logout-notice": takeLogoutNotice,
};

export async function answerSite(asked: SiteRequest, webBuild: URL): Promise<void> {
  const { url, request, response } = asked;
  const post = Object.hasOwn(posts, url.pathname) ? posts[url.pathname] : undefined;
  if (post === undefined) return sendAsset(webBuild, url.pathname, request, response);
  if (request.method !== "POST")
    throw new AgentBoxError("request.method_not_allowed", `${url.pathname} takes POST only.`);
  await post(asked);
}
