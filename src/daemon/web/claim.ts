import { z } from "zod";
import { sessionCookie } from "../../contract/api/headers.ts";
import type { ClaimedSession } from "../../core/access/access.ts";
import { parseWith, readJson, sendJson } from "../http.ts";
import { isOfAnotherUser } from "../../host/peer-user.ts";
import type { SiteRequest } from "./site.ts";

const ClaimBody = z.strictObject({ code: z.string().min(1).max(200) });

/** A one-time code becomes a session. SECURITY: the code comes in the body, because addresses end up in histories and logs. */
export async function claim(asked: SiteRequest): Promise<void> {
  const { core, request, hasProxy } = asked;
  const { code } = parseWith(ClaimBody, await readJson(request, { isOfStranger: true }), "body");
  // Behind a proxy every connection comes from the proxy's user.
  const isForeign = !hasProxy && (await isOfAnotherUser(request.socket));
  const claimed = await core.access.claim(code, { agent: request.headers["user-agent"], isForeign });
  sendSession(asked, claimed);
}

/** The two halves of a session: one for the browser, one for the page. */
export function sendSession(
  { response, isSecure }: SiteRequest,
  { cookie, key, session }: ClaimedSession,
): void {
  const seconds = Math.max(1, Math.floor((session.expiresAtMs - session.createdAtMs) / 1_000));
  // SECURITY: no Domain, so that no other name gets it; Strict, so that no other site can make the browser send it.
  const parts = [`${sessionCookie}=${cookie}`, "Path=/", "HttpOnly", "SameSite=Strict", `Max-Age=${seconds}`];
  response.setHeader("set-cookie", [...parts, ...(isSecure ? ["Secure"] : [])].join("; "));
  sendJson(response, 200, { key });
}
