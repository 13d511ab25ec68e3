/**
 * Sign-in for a team. The provider identifies a person, when they come in and again as long as they stay; no one stays
 * longer than an hour without its word.
 */
import { isAgentBoxError } from "../../base/errors.ts";
import type { SignInSection } from "../../manifest/sections/web-section.ts";
import type { AccessState, SessionRecord } from "../../ports/access-records.ts";
import type { PersonClaims, SignInAnswer } from "../../ports/identity.ts";
import type { Using } from "../using.ts";
import type { ClaimedSession } from "../access/access.ts";
import { decidePerson, notAllowed, personId, withBarred, withPerson } from "./persons.ts";
import { getSignIn, maxSessionMs, readWebSection, recheckMs } from "./settings.ts";
import { type BrowserProof, TeamTransactions } from "./transactions.ts";

/** How long a person stays without the provider's word. */
const withoutWordMs = 3_600_000;
const maxPauseMs = 30_000;

interface Watched {
  readonly refreshToken: string;
  readonly dueAtMs: number;
}

export class Team {
  readonly #core: Using<"access" | "clock" | "host" | "identity" | "report">;
  readonly #transactions: TeamTransactions;
  /** By session. SECURITY: in memory only; what lies on a disk can be copied. After a restart the hour runs out. */
  readonly #watched = new Map<string, Watched>();
  #lookIn: (pauseMs: number) => void = () => undefined;

  constructor(core: Using<"access" | "clock" | "host" | "identity" | "report">) {
    this.#core = core;
    this.#transactions = new TeamTransactions(() => core.ports.clock);
  }

  async begin(redirectUri: string): Promise<{ url: string; cookie: string; secret: string }> {
    const settings = await getSignIn(this.#core);
    this.#transactions.admit();
    const { url, checks } = await this.#core.ports.identity.begin(settings, redirectUri);
    return { url, ...this.#transactions.add(checks) };
  }

  async finish(
    { state, ...answer }: SignInAnswer & { readonly state: string },
    proof: BrowserProof,
    { agent }: { readonly agent?: string | undefined },
  ): Promise<ClaimedSession> {
    try {
      const settings = await getSignIn(this.#core);
      const checks = this.#transactions.take(state, proof);
      const { identity, clock } = this.#core.ports;
      const { claims, sid, refreshToken } = await identity.finish(settings, checks, { ...answer, state });
      const decision = decidePerson(settings, claims);
      if (!decision.allow) {
        await this.#bar(personId(claims), "not allowed");
        throw notAllowed(claims, decision.reason);
      }
      const facts = { isAdmin: decision.isAdmin, nowMs: clock.nowMs(), isSignIn: true };
      await this.#core.access.change((known) => withPerson(known, claims, facts));
      const claimed = await this.#core.access.openSession(
        { kind: "person", person: personId(claims) },
        { agent, how: "sign_in", lifeMs: Math.min(withoutWordMs, maxSessionMs(settings)), sid },
      );
      if (refreshToken !== undefined) {
        this.#watched.set(claimed.session.id, { refreshToken, dueAtMs: clock.nowMs() + recheckMs(settings) });
        this.#lookIn(Math.min(maxPauseMs, recheckMs(settings)));
      }
      return claimed;
    } catch (error) {
      this.#core.access.refused("sign_in", { code: isAgentBoxError(error) ? error.code : "unknown" });
      throw error;
    }
  }

  /** The provider's notice that a person has signed out there. */
  async takeLogoutNotice(token: string): Promise<void> {
    try {
      const settings = await getSignIn(this.#core);
      const { subject, sid, issuer } = await this.#core.ports.identity.readLogoutNotice(settings, token);
      const person = subject === undefined ? undefined : personId({ issuer, subject });
      // With both, the session of that person; with one of them, all that it names.
      await this.#core.access.endSessions(
        ({ holder, sid: own }) =>
          holder.kind === "person" &&
          (person === undefined || holder.person === person) &&
          (sid === undefined || own === sid),
        "provider",
      );
    } catch (error) {
      this.#core.access.refused("logout_notice", { code: isAgentBoxError(error) ? error.code : "unknown" });
      throw error;
    }
  }

  /** Asks again about every person whose time has come, for as long as the daemon lives; returns the way to stop. */
  watch(): () => void {
    let isStopped = false;
    let cancel = (): void => undefined;
    const next = (pauseMs: number): void => {
      cancel();
      if (isStopped) return;
      cancel = this.#core.ports.clock.after(pauseMs, () => void look());
    };
    const look = async (): Promise<void> => {
      try {
        next(await this.#look());
      } catch (error) {
        this.#core.ports.report({ error: String(error) }, "asking about who is signed in failed");
        next(maxPauseMs);
      }
    };
    this.#lookIn = next;
    next(1_000);
    return () => {
      isStopped = true;
      cancel();
    };
  }

  /** Returns how long until the next look. */
  async #look(): Promise<number> {
    const people = this.#sessions();
    for (const id of this.#watched.keys())
      if (!people.some((session) => session.id === id)) this.#watched.delete(id);
    if (people.length === 0) return maxPauseMs;
    const { sign_in: settings } = await readWebSection(this.#core);
    // SECURITY: another provider, or none, is no longer the one that vouched for them.
    const isForeign = ({ holder }: SessionRecord): boolean =>
      holder.kind === "person" && this.#personOf(holder.person)?.issuer !== settings?.issuer;
    await this.#core.access.endSessions(isForeign, "settings");
    if (settings === undefined) return maxPauseMs;
    const nowMs = this.#core.ports.clock.nowMs();
    for (const session of this.#sessions()) {
      const watched = this.#watched.get(session.id);
      if (watched && watched.dueAtMs <= nowMs) await this.#recheck(settings, session, watched);
    }
    return Math.min(maxPauseMs, recheckMs(settings));
  }

  async #recheck(settings: SignInSection, session: SessionRecord, watched: Watched): Promise<void> {
    const { identity, clock } = this.#core.ports;
    const person = session.holder.kind === "person" ? this.#personOf(session.holder.person) : undefined;
    if (person === undefined) return;
    const { refreshToken } = watched;
    const result = await identity.recheck(settings, { subject: person.subject, refreshToken });
    const nowMs = clock.nowMs();
    const dueAtMs = nowMs + recheckMs(settings);
    switch (result.outcome) {
      case "unknown":
        this.#watched.set(session.id, { refreshToken, dueAtMs });
        return;
      case "ended":
        this.#watched.delete(session.id);
        return this.#end(session, person.id);
      case "confirmed":
        this.#watched.set(session.id, { refreshToken: result.refreshToken ?? refreshToken, dueAtMs });
        return this.#confirm(settings, session, result.claims, nowMs);
    }
  }

  async #confirm(
    settings: SignInSection,
    session: SessionRecord,
    claims: PersonClaims | undefined,
    nowMs: number,
  ): Promise<void> {
    const decision = claims && decidePerson(settings, claims);
    if (claims && decision && !decision.allow) return this.#bar(personId(claims), "not allowed");
    const lastMs = session.createdAtMs + maxSessionMs(settings);
    const expiresAtMs = Math.min(lastMs, nowMs + withoutWordMs);
    const prolonged = (state: AccessState): AccessState => ({
      ...state,
      sessions: state.sessions.map((one) => (one.id === session.id ? { ...one, expiresAtMs } : one)),
    });
    await this.#core.access.change((state) => {
      const known = prolonged(state);
      return claims && decision?.allow
        ? withPerson(known, claims, { isAdmin: decision.isAdmin, nowMs, isSignIn: false })
        : known;
    });
  }

  /** One session ends; with the last that could be asked about, the person is unknown until they come again. */
  async #end(session: SessionRecord, person: string): Promise<void> {
    await this.#core.access.endSessions(({ id }) => id === session.id, "provider");
    const isElsewhere = this.#sessions().some(
      ({ id, holder }) => holder.kind === "person" && holder.person === person && this.#watched.has(id),
    );
    if (!isElsewhere) await this.#bar(person, "provider");
  }

  async #bar(person: string, reason: string): Promise<void> {
    if (this.#personOf(person) === undefined) return;
    await this.#core.access.endSessions(
      ({ holder }) => holder.kind === "person" && holder.person === person,
      reason,
    );
    await this.#core.access.change((state) => withBarred(state, person));
  }

  #sessions(): readonly SessionRecord[] {
    return this.#core.access.records.state.sessions.filter(({ holder }) => holder.kind === "person");
  }

  #personOf(id: string) {
    return this.#core.access.records.state.people.find((one) => one.id === id);
  }
}
