/** Logout tokens of OpenID Connect Back-Channel Logout: the provider signs one when a person has signed out there. */
import { type JWTPayload, jwtVerify } from "jose";
import { JOSEError } from "jose/errors";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { SignInSection } from "../../manifest/sections/web-section.ts";
import type { LogoutNotice } from "../../ports/identity.ts";
import { type KnownProvider, asSignInError } from "./provider.ts";

const event = "http://schemas.openid.net/event/backchannel-logout";
const maxAgeSeconds = 300;
const toleranceSeconds = 30;
/** SECURITY: longer than a notice can be valid, so that one can never be taken twice. */
const rememberedMs = 2 * (maxAgeSeconds + 2 * toleranceSeconds) * 1_000;
const maxRemembered = 10_000;
/** SECURITY: only with keys of two halves: with a shared one, the public key would do as the secret. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

const Logout = z.object({
  jti: z.string().min(1).max(256),
  sub: z.string().min(1).max(256).optional(),
  sid: z.string().min(1).max(256).optional(),
  events: z.object({ [event]: z.record(z.string(), z.unknown()) }),
});

export class LogoutNotices {
  readonly #clock: Clock;
  /** By the notice's own name, with when it may be forgotten. */
  readonly #taken = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async read(settings: SignInSection, { keys }: KnownProvider, token: string): Promise<LogoutNotice> {
    const payload = await this.#verify(settings, keys, token);
    // SECURITY: a nonce belongs to an id token, and one of those must not end a session.
    if (payload["nonce"] !== undefined) throw refused("it is not a logout token");
    const parsed = Logout.safeParse(payload);
    if (!parsed.success) throw refused("it does not say what has ended");
    const { jti, sub, sid } = parsed.data;
    if (sub === undefined && sid === undefined) throw refused("it names nobody");
    this.#takeOnce(jti);
    return {
      issuer: settings.issuer,
      ...omitUndefined({ subject: sub, sid }),
    };
  }

  async #verify(
    { issuer, client_id }: SignInSection,
    keys: KnownProvider["keys"],
    token: string,
  ): Promise<JWTPayload> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        algorithms: [...algorithms],
        issuer,
        audience: client_id,
        maxTokenAge: maxAgeSeconds,
        clockTolerance: toleranceSeconds,
        currentDate: new Date(this.#clock.nowMs()),
        requiredClaims: ["jti", "events"],
      });
      const typ = protectedHeader.typ?.toLowerCase() ?? "jwt";
      if (!["jwt", "logout+jwt", "application/logout+jwt"].includes(typ))
        throw refused("it is another kind of token");
      return payload;
    } catch (error) {
      // Its messages name claims, never their values; the sender of the notice learns no more than that.
      if (error instanceof JOSEError && error.code !== "ERR_JWKS_TIMEOUT")
        throw refused("its signature, its issuer, its audience or its time is wrong");
      return asSignInError(() => Promise.reject(error));
    }
  }

  #takeOnce(jti: string): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [known, untilMs] of this.#taken) if (untilMs <= nowMs) this.#taken.delete(known);
    if (this.#taken.has(jti)) throw refused("it has been taken already");
    // SECURITY: only the provider can fill this, and still it stays bounded.
    if (this.#taken.size >= maxRemembered) throw refused("there are too many at a time");
    this.#taken.set(jti, nowMs + rememberedMs);
  }
}

const refused = (why: string): AgentBoxError =>
  new AgentBoxError("sign_in.refused", `The logout notice is not accepted: ${why}.`);
