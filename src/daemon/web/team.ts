/**
 * The ways to a session for people of a team. The provider's answer comes back through the page, never as a GET that
 * changes something.
 */
import { z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import { signInCookie } from "../../contract/api/headers.ts";
import { providerName, readWebSection } from "../../core/team/settings.ts";
import { cookieValues } from "../cookies.ts";
import { parseWith, readJson, sendJson } from "../http.ts";
import { sendSession } from "./claim.ts";
import type { SiteRequest } from "./site.ts";
import type { IncomingMessage } from "node:http";

const maxFormBytes = 64 * 1024;

/** The fields of a form, as a provider sends them. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded")
    throw new AgentBoxError(
      "input.invalid",
      "The request must have the content type application/x-www-form-urlencoded.",
    );
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxFormBytes)
      throw new AgentBoxError("input.too_large", `A form may have at most ${maxFormBytes} bytes.`);
    parts.push(part);
  }
  return new URLSearchParams(Buffer.concat(parts).toString("utf8"));
}

/** As long as a sign-in may take. */
const cookieSeconds = 600;
const text = (max: number) => z.string().min(1).max(max);

const FinishBody = z.strictObject({
  state: text(512),
  secret: text(200),
  code: text(4_096).optional(),
  iss: text(2_048).optional(),
  error: text(200).optional(),
});

/** The part of the settings that a page may know before sign-in: whether there is a button, and its label. */
export async function describeSignIn({ core, response, request }: SiteRequest): Promise<void> {
  await readJson(request, { isOfStranger: true });
  const { sign_in } = await readWebSection(core);
  sendJson(response, 200, sign_in === undefined ? {} : { provider: providerName(sign_in) });
}

export async function beginSignIn(asked: SiteRequest): Promise<void> {
  const { core, request, response } = asked;
  await readJson(request, { isOfStranger: true });
  const { url, cookie, secret } = await core.team.begin(`${originOf(asked)}/auth/callback`);
  response.setHeader("set-cookie", cookieText(asked, cookie, cookieSeconds));
  sendJson(response, 200, { url, secret });
}

export async function finishSignIn(asked: SiteRequest): Promise<void> {
  const { core, request } = asked;
  const { secret, ...answer } = parseWith(
    FinishBody,
    await readJson(request, { isOfStranger: true }),
    "body",
  );
  const cookies = cookieValues(request.headers.cookie, signInCookie);
  const claimed = await core.team.finish(
    answer,
    { cookies, secret },
    { agent: request.headers["user-agent"] },
  );
  sendSession(asked, claimed);
}

/** From the provider itself, and from no page. */
export async function takeLogoutNotice({ core, request, response }: SiteRequest): Promise<void> {
  const form = await readForm(request);
  const token = form.get("logout_token");
  if (token === null || token === "")
    throw new AgentBoxError("input.invalid", "The notice has no logout_token.");
  await core.team.takeLogoutNotice(token);
  sendJson(response, 200, {});
}

/** The door has let through only names and origins that are the dashboard's own. */
const originOf = ({ request, isSecure }: SiteRequest): string =>
  request.headers.origin ?? `${isSecure ? "https" : "http"}://${request.headers.host ?? ""}`;

/** SECURITY: HttpOnly, so that no script can carry a begun sign-in to another browser; Strict, because only the page itself sends it. */
const cookieText = ({ isSecure }: SiteRequest, value: string, seconds: number): string =>
  [
    `${signInCookie}=${value}`,
    "Path=/auth/",
    "HttpOnly",
    "SameSite=Strict",
    `Max-Age=${seconds}`,
    ...(isSecure ? ["Secure"] : []),
  ].join("; ");
