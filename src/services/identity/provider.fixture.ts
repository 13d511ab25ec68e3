/** A team's OpenID provider on loopback: real, with people and groups, and with knobs to make it away, strict or a liar. */
import { createSign, generateKeyPairSync, randomUUID } from "node:crypto";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Configuration, Provider } from "oidc-provider";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { SignInSection } from "../../manifest/sections/web-section.ts";

export const teamClientId = "agentbox-team";
export const teamClientSecret = "the team's own: 100% secret";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const { privateKey: foreignKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = { ...privateKey.export({ format: "jwk" }), kid: "right", alg: "RS256", use: "sig" };

type Fields = Record<string, unknown>;
export interface TeamMember {
  readonly name?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly groups?: readonly string[];
}

export class TeamProvider implements AsyncDisposable {
  readonly issuer: string;
  /** Who has an account; a name that is not here cannot sign in, and is refused when asked about again. */
  readonly members = new Map<string, TeamMember>();
  readonly requests: string[] = [];
  /** Changes what the token endpoint says. */
  onTokenAnswer: (answer: Fields) => Fields = (answer) => answer;
  onDiscovery: (document: Fields) => Fields = (document) => document;
  /** A status instead of an answer. */
  fault: number | undefined;
  readonly #server: Server;

  private constructor(server: Server, port: number, redirectUris: readonly string[], logoutUri?: string) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${port}`;
    const provider = new Provider(this.issuer, this.#configuration(redirectUris, logoutUri));
    provider.use(async (ctx, next) => {
      if (this.fault !== undefined) {
        ctx.status = this.fault;
        return;
      }
      await next();
      const grant = ctx.oidc?.params?.["grant_type"];
      this.requests.push([ctx.method, ctx.path, grant].filter(Boolean).join(" "));
      if (ctx.path === "/token" && ctx.status === 200) ctx.body = this.onTokenAnswer(ctx.body as Fields);
      if (ctx.path.includes("/.well-known/")) ctx.body = this.onDiscovery(ctx.body as Fields);
    });
    const handle = provider.callback();
    server.on("request", (request, response) => void handle(request, response));
  }

  static async open(redirectUris: readonly string[], logoutUri?: string): Promise<TeamProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new TeamProvider(server, (server.address() as AddressInfo).port, redirectUris, logoutUri);
  }

  /** The provider's entry in config.toml; the client's secret is kept elsewhere. */
  settings(more: Partial<SignInSection> = {}): SignInSection {
    return { issuer: this.issuer, client_id: teamClientId, admin_group: "admins", ...more };
  }

  /** Signed as by the provider when a person has signed out, or as by a liar. */
  logoutToken(change: (claims: Fields) => Fields, signedBy: "provider" | "stranger" = "provider"): string {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: this.issuer,
      aud: teamClientId,
      iat: now,
      exp: now + 120,
      jti: randomUUID(),
      events: { "http://schemas.openid.net/event/backchannel-logout": {} },
    };
    return signed(change(claims), signedBy, { typ: "logout+jwt" });
  }

  /** The port has no listener any more. */
  async goAway(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.goAway();
  }

  #configuration(redirectUris: readonly string[], logoutUri: string | undefined): Configuration {
    return {
      clients: [
        {
          client_id: teamClientId,
          client_secret: teamClientSecret,
          application_type: "native",
          grant_types: ["authorization_code", "refresh_token"],
          redirect_uris: [...redirectUris],
          token_endpoint_auth_method: "client_secret_basic",
          backchannel_logout_session_required: true,
          ...omitUndefined({ backchannel_logout_uri: logoutUri }),
        },
      ],
      jwks: { keys: [jwk] },
      cookies: { keys: ["test"] },
      claims: {
        openid: ["sub", "sid"],
        profile: ["name", "groups"],
        email: ["email", "email_verified"],
      },
      findAccount: async (_ctx, id) => {
        const member = this.members.get(id);
        return member && { accountId: id, claims: async () => ({ sub: id, ...member }) };
      },
      features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
      // Its own way refuses addresses of this machine, and everything here is on it.
      fetch: (url, { method = "GET", headers = {}, body = null } = {}) =>
        fetch(url, { method, headers, body }),
      rotateRefreshToken: true,
      issueRefreshToken: () => true,
      ttl: {
        AccessToken: 3_600,
        IdToken: 3_600,
        RefreshToken: 86_400,
        Grant: 86_400,
        Session: 86_400,
        Interaction: 3_600,
      },
    };
  }
}

export const claimsOf = (token: unknown): Fields =>
  JSON.parse(Buffer.from(String(token).split(".")[1]!, "base64url").toString()) as Fields;

const encode = (value: Fields) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token that says what it is told to say. */
export function signed(
  claims: Fields,
  signedBy: "provider" | "stranger" = "provider",
  head: Fields = {},
): string {
  const text = `${encode({ alg: "RS256", typ: "JWT", kid: "right", ...head })}.${encode(claims)}`;
  const signer = createSign("RSA-SHA256").update(text);
  return `${text}.${signer.sign(signedBy === "provider" ? privateKey : foreignKey).toString("base64url")}`;
}

export const unsigned = (claims: Fields): string => `${encode({ alg: "none" })}.${encode(claims)}.`;

/** The same head and signature around other claims. */
export function tampered(token: string, change: Fields): string {
  const [head, , signature] = token.split(".");
  return [head, encode({ ...claimsOf(token), ...change }), signature].join(".");
}
