/** A real OpenID provider on loopback, with knobs to make it slow, away, or a liar; and a keeper without a vault. */
import { createSign, generateKeyPairSync } from "node:crypto";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Configuration, Provider } from "oidc-provider";
import { systemClock, systemIds } from "../../host/clock.ts";
import { silentLogger } from "../../host/logger.ts";
import { AgentBoxError } from "../../base/errors.ts";
import type { OAuthTokens } from "../../contract/secret/connection.ts";
import type { TokenKeeper } from "../../ports/connections.ts";
import { openConnections } from "./index.ts";

export const clientId = "agentbox";
export const confidentialId = "agentbox-server";
export const confidentialSecret = "the-client's own: 100% secret";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = { ...privateKey.export({ format: "jwk" }), kid: "right", alg: "RS256", use: "sig" };
const { privateKey: foreignKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

type Fields = Record<string, unknown>;

export class ProviderFixture implements AsyncDisposable {
  readonly issuer: string;
  readonly provider: Provider;
  /** `POST /token refresh_token`, and the like. */
  readonly requests: string[] = [];
  deviceSeconds = 600;
  /** Changes what the token endpoint says. */
  onTokenAnswer: (answer: Fields) => Fields = (answer) => answer;
  /** Changes what the discovery document says. */
  onDiscovery: (document: Fields) => Fields = (document) => document;
  /** A status instead of an answer. */
  fault: number | undefined;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${port}`;
    this.provider = new Provider(this.issuer, this.#configuration());
    this.provider.use(async (ctx, next) => {
      if (this.fault !== undefined) {
        ctx.status = this.fault;
        this.requests.push(`${ctx.method} ${ctx.path} ${this.fault}`);
        return;
      }
      await next();
      const grant = ctx.oidc?.params?.["grant_type"];
      this.requests.push([ctx.method, ctx.path, grant].filter(Boolean).join(" "));
      if (ctx.path === "/token" && ctx.status === 200) ctx.body = this.onTokenAnswer(ctx.body as Fields);
      if (ctx.path.includes("/.well-known/")) ctx.body = this.onDiscovery(ctx.body as Fields);
      // Otherwise a client waits five seconds between two questions.
      if (ctx.path === "/device/auth" && ctx.status === 200)
        ctx.body = { ...(ctx.body as Fields), interval: 1 };
    });
    const handle = this.provider.callback();
    server.on("request", (request, response) => void handle(request, response));
  }

  static async open(): Promise<ProviderFixture> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new ProviderFixture(server, (server.address() as AddressInfo).port);
  }

  count(request: string): number {
    return this.requests.filter((known) => known === request).length;
  }

  /** The port has no listener any more. */
  async goAway(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.goAway();
  }

  #configuration(): Configuration {
    const grants = [
      "authorization_code",
      "refresh_token",
      "urn:ietf:params:oauth:grant-type:device_code",
    ] as const;
    const shared = {
      application_type: "native",
      grant_types: [...grants],
      // Any port, as RFC 8252 has it for programs on a person's own machine.
      redirect_uris: ["http://127.0.0.1/callback"],
    } as const;
    return {
      clients: [
        { ...shared, client_id: clientId, token_endpoint_auth_method: "none" },
        {
          ...shared,
          client_id: confidentialId,
          client_secret: confidentialSecret,
          token_endpoint_auth_method: "client_secret_post",
        },
      ],
      jwks: { keys: [jwk] },
      cookies: { keys: ["test"] },
      scopes: ["openid", "offline_access", "code:write"],
      features: {
        devInteractions: { enabled: true },
        deviceFlow: { enabled: true },
        revocation: { enabled: true },
      },
      rotateRefreshToken: true,
      issueRefreshToken: () => true,
      ttl: {
        AccessToken: 3_600,
        DeviceCode: () => this.deviceSeconds,
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

/** An id token that says what it is told to say, signed with the provider's key or with a stranger's. */
export function idToken(claims: Fields, signedBy: "provider" | "stranger" = "provider"): string {
  const encode = (value: Fields) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${encode({ alg: "RS256", typ: "JWT", kid: "right" })}.${encode(claims)}`;
  const signer = createSign("RSA-SHA256").update(text);
  return `${text}.${signer.sign(signedBy === "provider" ? privateKey : foreignKey).toString("base64url")}`;
}

/** Keeps tokens in memory, and can fail as a vault does. */
class MemoryKeeper implements TokenKeeper {
  readonly tokens = new Map<string, OAuthTokens>();
  readonly clientSecrets = new Map<string, string>();
  writes = 0;
  fault: AgentBoxError | undefined;

  async read(secret: string): Promise<OAuthTokens> {
    const tokens = this.tokens.get(secret);
    if (tokens === undefined) throw new AgentBoxError("secret.not_found", `There is no "${secret}".`);
    return tokens;
  }

  async write(secret: string, tokens: OAuthTokens): Promise<void> {
    if (this.fault !== undefined) throw this.fault;
    this.writes += 1;
    this.tokens.set(secret, tokens);
  }

  async clientSecret(secret: string): Promise<string> {
    const value = this.clientSecrets.get(secret);
    if (value === undefined) throw new AgentBoxError("secret.not_found", `There is no "${secret}".`);
    return value;
  }
}

/** Connections whose clock can be put forward. */
export function openBench() {
  const keeper = new MemoryKeeper();
  let aheadMs = 0;
  const clock = {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const connections = openConnections({ keeper, clock, logger: silentLogger, ids: systemIds });
  return {
    keeper,
    connections,
    putForward: (ms: number) => {
      aheadMs += ms;
    },
    [Symbol.asyncDispose]: () => connections[Symbol.asyncDispose](),
  };
}
