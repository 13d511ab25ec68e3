/** The connections of ports/connections.ts: sign-ins under way, and the tokens of those that succeeded. */
import type { Clock, Ids } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { type ConnectionSpec, type ConnectionState, OAuthTokens } from "../../contract/secret/connection.ts";
import type { Logger } from "../../host/logger.ts";
import type { Connections, TokenKeeper } from "../../ports/connections.ts";
import { AccessTokens } from "./access-tokens.ts";
import { readAgentLogin } from "./agent-login.ts";
import type { BoundedFetch } from "./bounded-fetch.ts";
import { beginCodeFlow } from "./code-flow.ts";
import { beginDeviceFlow } from "./device-flow.ts";
import { failureOf, signInFailed } from "./failure.ts";
import { presets } from "./presets/index.ts";
import { type Provider, openProvider } from "./provider.ts";
import { SignIn } from "./sign-in.ts";
import { type SignInPlan, planSignIn } from "./sign-in-plan.ts";
import { tokensFrom } from "./token-answer.ts";

/** Sign-ins that wait at a time; each has a listener. */
const maxWaiting = 16;
/** How long it can be asked how a sign-in has ended. */
const rememberMs = 10 * 60_000;

export interface ConnectionsContext {
  readonly keeper: TokenKeeper;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ids: Ids;
  readonly fetch: BoundedFetch;
}

export class HostConnections implements Connections {
  readonly presets = presets;
  readonly #context: ConnectionsContext;
  readonly #signIns = new Map<string, SignIn>();
  readonly #tokens: AccessTokens;

  constructor(context: ConnectionsContext) {
    this.#context = context;
    this.#tokens = new AccessTokens(context);
  }

  async start(spec: ConnectionSpec): Promise<ConnectionState> {
    const { keeper, fetch } = this.#context;
    const plan = planSignIn(spec);
    this.#makeRoom(plan.secret);
    const id = this.#context.ids.random();
    const signIn = new SignIn(id, plan.secret, (state) => this.#ended(state));
    this.#signIns.set(id, signIn);
    try {
      const secret =
        plan.clientSecret === undefined ? undefined : await keeper.clientSecret(plan.clientSecret);
      const provider = await openProvider(plan, secret, fetch);
      await this.#begin(signIn, plan, provider);
    } catch (error) {
      this.#signIns.delete(id);
      throw error instanceof AgentBoxError ? error : signInFailed(failureOf(error));
    }
    return signIn.state;
  }

  find(id: string): ConnectionState | undefined {
    return this.#signIns.get(id)?.state;
  }

  cancel(id: string): void {
    this.#signIns.get(id)?.end("failed", "The sign-in was given up.");
  }

  accessToken(secret: string): ReturnType<Connections["accessToken"]> {
    return this.#tokens.get(secret);
  }

  readLogin(agent: string, text: string): OAuthTokens {
    return readAgentLogin(agent, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of this.#signIns.keys()) this.cancel(id);
  }

  async #begin(signIn: SignIn, plan: SignInPlan, provider: Provider): Promise<void> {
    const { clock } = this.#context;
    const begin = plan.flow === "device" ? beginDeviceFlow : beginCodeFlow;
    const { lifetimeMs, ...flow } = await begin({
      plan,
      provider,
      settle: (obtain) => this.#settle(signIn, plan, provider, obtain),
    });
    const stopWaiting = clock.after(lifetimeMs, () => signIn.end("expired", "No person agreed in time."));
    const { url, userCode } = flow;
    const facts = { url, ...omitUndefined({ userCode }) };
    signIn.show({ ...facts, expiresAtMs: clock.nowMs() + lifetimeMs }, () => {
      stopWaiting();
      flow.close();
    });
  }

  #settle(signIn: SignIn, plan: SignInPlan, provider: Provider, obtain: () => Promise<unknown>) {
    const { keeper, clock } = this.#context;
    let sentAtMs = 0;
    return signIn.settle(
      () => {
        sentAtMs = clock.nowMs();
        return obtain();
      },
      async (answer) => keeper.write(plan.secret, tokensFrom(answer, knownOf(plan, provider), sentAtMs)),
    );
  }

  /** A second sign-in for the same secret takes the place of the first: a person has begun again. */
  #makeRoom(secret: string): void {
    const waiting = [...this.#signIns.values()].filter(({ isWaiting }) => isWaiting);
    for (const signIn of waiting) {
      if (signIn.state.secret === secret) signIn.end("failed", "Another sign-in was begun in its place.");
    }
    if (waiting.filter(({ isWaiting }) => isWaiting).length >= maxWaiting) {
      throw new AgentBoxError("connection.failed", "Too many sign-ins wait for a person.", {
        hint: "Finish one, or wait ten minutes.",
      });
    }
  }

  #ended({ id, secret, state }: ConnectionState): void {
    this.#context.logger.info({ secret, state }, "sign-in ended");
    this.#context.clock.after(rememberMs, () => this.#signIns.delete(id));
  }
}

/** The facts about the tokens that are known before they come. */
function knownOf(plan: SignInPlan, { configuration, clientAuth, isNamed }: Provider) {
  const { issuer, token_endpoint: tokenEndpoint } = configuration.serverMetadata();
  const { accessToken: _, ...known } = OAuthTokens.parse({
    tokenEndpoint,
    ...(isNamed ? { issuer } : {}),
    clientId: plan.clientId,
    ...(plan.clientSecret === undefined ? {} : { clientSecret: plan.clientSecret, clientAuth }),
    scopes: plan.scopes,
    accessToken: "",
  });
  return known;
}
