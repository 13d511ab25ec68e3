/**
 * Who may come in. One-time links become sessions, sessions and tokens become callers, and everything a caller has
 * open ends with what it came in with. SECURITY: nothing here ever hands out or logs a credential that exists already.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { PersonPrincipal, Principal } from "../../contract/access/principal.ts";
import type { AccessRecords, AccessState, Holder, SessionRecord } from "../../ports/access-records.ts";
import type { Using } from "../using.ts";
import { EventBudget } from "../network/event-budget.ts";
import { type Caller, nameOf } from "./caller.ts";
import { digestOf, freshCredential, freshId, isSameDigest } from "./credential.ts";
import { HeldConnections } from "./held-connections.ts";
import { type OfBox, type Visibility, visibilityOf } from "./visibility.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const linkLifeMs = 5 * minuteMs;
const sessionLifeMs = 30 * dayMs;
const sessionIdleMs = 7 * dayMs;
const confirmedForMs = 7 * dayMs;
/** SECURITY: the records are written anew with each sign-in, so they may not grow without end. */
const maxSessions = 500;
const maxLinks = 64;
/** For each reason. SECURITY: every user of the machine can cause refusals, and the log only grows. */
const refusalsPerMinute = 10;
/** Far above what a page with a stale key sends, and far below what would load the machine. */
const failuresPerMinute = 60;

export interface SessionCredentials {
  /** Every cookie of the name: another server on this host may have set one of its own. */
  readonly cookies: readonly string[];
  readonly key: string;
}

export interface SessionFacts {
  readonly agent?: string | undefined;
  readonly how: string;
  readonly lifeMs?: number;
  readonly sid?: string | undefined;
}

export interface ClaimedSession {
  readonly cookie: string;
  readonly key: string;
  readonly session: SessionRecord;
}

export class Access {
  readonly #core: Using<"accessRecords" | "background" | "clock" | "note" | "store">;
  readonly #links = new Map<string, number>();
  readonly #refusals: EventBudget;
  readonly #failures: EventBudget;
  readonly #openEnds: HeldConnections;
  /** Whose use is being written down: a page that loads asks for much at once. */
  readonly #touching = new Set<string>();

  constructor(core: Using<"accessRecords" | "background" | "clock" | "note" | "store">) {
    this.#core = core;
    const clock = () => core.ports.clock;
    this.#refusals = new EventBudget(clock, refusalsPerMinute, (reason, count) =>
      core.background("noting refusals", core.note("access.refused", undefined, { reason, more: count })),
    );
    this.#failures = new EventBudget(clock, failuresPerMinute);
    this.#openEnds = new HeldConnections(clock, (caller) => this.isAlive(caller));
  }

  get records(): AccessRecords {
    return this.#core.ports.accessRecords;
  }

  get #nowMs(): number {
    return this.#core.ports.clock.nowMs();
  }

  /** Every change of the records goes through here, so that what has ended is closed at once. */
  async change(edit: (state: AccessState) => AccessState): Promise<void> {
    await this.records.change((state) => edit(this.#withoutEnded(state)));
    this.#openEnds.sweep();
  }

  visibilityOf(caller: Caller): Visibility {
    const { store, clock } = this.#core.ports;
    return visibilityOf(caller, {
      state: () => this.records.state,
      findBox: (name) => store.findBox(name),
      nowMs: () => clock.nowMs(),
    });
  }

  hold(caller: Caller, end: () => void, mayStill?: () => boolean): () => void {
    return this.#openEnds.hold(caller, end, mayStill);
  }

  /** A code that becomes a session of the owner, once. */
  createLink(): { readonly code: string; readonly expiresAtMs: number } {
    const nowMs = this.#nowMs;
    for (const [digest, untilMs] of this.#links) if (untilMs <= nowMs) this.#links.delete(digest);
    const oldest = [...this.#links.keys()].slice(0, Math.max(0, this.#links.size - maxLinks + 1));
    for (const digest of oldest) this.#links.delete(digest);
    const code = freshCredential();
    const expiresAtMs = nowMs + linkLifeMs;
    this.#links.set(digestOf(code), expiresAtMs);
    return { code, expiresAtMs };
  }

  /**
   * Fails with access.link_used; a code is used up by the first try, also a failed one. `isForeign`: another user's
   * program.
   */
  async claim(
    code: string,
    { isForeign = false, ...facts }: { readonly agent?: string | undefined; readonly isForeign?: boolean },
  ): Promise<ClaimedSession> {
    const digest = digestOf(code);
    const untilMs = this.#links.get(digest);
    this.#links.delete(digest);
    if (untilMs !== undefined && isForeign) {
      this.refused("user");
      throw this.#failed(linkUsed());
    }
    if (untilMs !== undefined && untilMs > this.#nowMs)
      return this.openSession({ kind: "owner" }, { ...facts, how: "link" });
    const share = this.records.state.shares.find(({ linkDigest }) => linkDigest === digest);
    const box = share && (await this.#core.ports.store.findBox(share.box));
    const isThere = share !== undefined && box?.incarnation === share.incarnation;
    if (!isThere || !this.#isCurrent(share)) throw this.#failed(linkUsed());
    let isOurs = false;
    await this.change((state) => {
      isOurs = state.shares.some(({ linkDigest }) => linkDigest === digest);
      const shares = state.shares.map((one) => {
        const { linkDigest, ...rest } = one;
        return linkDigest === digest ? rest : one;
      });
      return { ...state, shares };
    });
    // SECURITY: two browsers with the same link at the same time: the records say who was first.
    if (!isOurs) throw this.#failed(linkUsed());
    return this.openSession({ kind: "guest", share: share.id }, { ...facts, how: "share" });
  }

  /** A session for a caller whose identity is proven. `lifeMs` only shortens it. */
  async openSession(
    holder: Holder,
    { agent, how, lifeMs = sessionLifeMs, sid }: SessionFacts,
  ): Promise<ClaimedSession> {
    const [cookie, key] = [freshCredential(), freshCredential()];
    const nowMs = this.#nowMs;
    const session: SessionRecord = {
      id: freshId(),
      cookieDigest: digestOf(cookie),
      keyDigest: digestOf(key),
      holder,
      ...(agent === undefined ? {} : { agent: printable(agent).slice(0, 200) }),
      ...omitUndefined({ sid }),
      createdAtMs: nowMs,
      usedAtMs: nowMs,
      expiresAtMs: nowMs + Math.min(lifeMs, sessionLifeMs),
    };
    await this.change((state) => ({
      ...state,
      sessions: [...state.sessions.slice(-(maxSessions - 1)), session],
    }));
    await this.#core.note("access.signed_in", undefined, {
      ...this.#describe(holder),
      session: session.id,
      how,
    });
    return { cookie, key, session };
  }

  /** Ends sessions; everything they have open ends, too. */
  async endSessions(isMeant: (session: SessionRecord) => boolean, reason: string): Promise<number> {
    const ended = this.records.state.sessions.filter(isMeant);
    if (ended.length === 0) return 0;
    const ids = new Set(ended.map(({ id }) => id));
    await this.change((state) => ({ ...state, sessions: state.sessions.filter(({ id }) => !ids.has(id)) }));
    for (const { id, holder } of ended)
      await this.#core.note("access.signed_out", undefined, {
        ...this.#describe(holder),
        session: id,
        reason,
      });
    return ended.length;
  }

  /** Both halves must match. SECURITY: found by digest, so that no comparison tells how much of a value was right. */
  identifySession({ cookies, key }: SessionCredentials): Caller {
    const keyDigest = digestOf(key);
    for (const cookie of cookies.slice(0, 8)) {
      const cookieDigest = digestOf(cookie);
      const session = this.records.state.sessions.find((one) => one.cookieDigest === cookieDigest);
      if (!session || !isSameDigest(session.keyDigest, keyDigest) || !this.#isLive(session)) continue;
      const principal = this.#principalOf(session.holder);
      if (!principal) continue;
      this.#touch("sessions", session);
      return { principal, credential: { kind: "session", id: session.id } };
    }
    throw this.#failed(unauthenticated("The session has ended, or is not one."));
  }

  identifyToken(value: string): Caller {
    const digest = digestOf(value);
    const token = this.records.state.tokens.find((one) => one.digest === digest);
    const of = token && this.#isCurrent(token) ? this.#principalOf(token.holder) : undefined;
    if (!token || !of || of.kind === "guest")
      throw this.#failed(unauthenticated("The access token is not valid, or not any more."));
    this.#touch("tokens", token);
    const { id, name, scopes } = token;
    return { principal: { kind: "token", id, name, scopes, of }, credential: { kind: "token", id } };
  }

  /** Whether the caller's credential still holds. */
  isAlive({ principal, credential }: Caller): boolean {
    const { sessions, tokens } = this.records.state;
    if (credential.kind === "socket") return true;
    const found =
      credential.kind === "session"
        ? sessions.find(({ id }) => id === credential.id)
        : tokens.find(({ id }) => id === credential.id);
    if (!found || ("cookieDigest" in found ? !this.#isLive(found) : !this.#isCurrent(found))) return false;
    const now = this.#principalOf(found.holder);
    // A person who is no admin any more, and a share that now gives less, must not go on with what they had.
    const before = principal.kind === "token" ? principal.of : principal;
    return now !== undefined && JSON.stringify(now) === JSON.stringify(before);
  }

  /** Records a refusal; bounded, and never with the credential that was tried. */
  refused(reason: string, facts: Readonly<Record<string, string | undefined>> = {}): void {
    // Each reason has its own share, so that a flood of one hides no other; parameters are those of a closed table.
    const { route, parameter } = facts;
    if (!this.#refusals.take(parameter === undefined ? reason : `${reason} ${route}.${parameter}`)) return;
    const data = Object.fromEntries(
      Object.entries(facts).flatMap(([key, text]) => (text ? [[key, printable(text).slice(0, 120)]] : [])),
    );
    this.#core.background(
      "noting a refusal",
      this.#core.note("access.refused", undefined, { reason, ...data }),
    );
  }

  /** The one who made something, as they would come in now; undefined when they may not, or their token has ended. */
  callerOf({
    holder,
    credential,
    token,
  }: {
    readonly holder: Holder;
    readonly credential: Caller["credential"]["kind"];
    readonly token?: string | undefined;
  }): Caller | undefined {
    const of = this.#principalOf(holder);
    if (of === undefined || of.kind === "guest") return undefined;
    if (credential === "socket") return { principal: of, credential: { kind: "socket" } };
    if (credential === "session") return { principal: of, credential: { kind: "session", id: "" } };
    const found = this.records.state.tokens.find(({ id }) => id === token);
    if (found === undefined || !this.#isCurrent(found)) return undefined;
    const { id, name, scopes } = found;
    return { principal: { kind: "token", id, name, scopes, of }, credential: { kind: "token", id } };
  }

  /** Whether the one for whom something was made sees a record now, and the token that made it is still good. */
  showsTo(
    { holder, madeWith }: { readonly holder: Holder; readonly madeWith?: string | undefined },
    record: OfBox,
  ): boolean {
    const principal = this.#principalOf(holder);
    const isMade =
      madeWith === undefined ||
      this.records.state.tokens.some((token) => token.id === madeWith && this.#isCurrent(token));
    const caller = principal && { principal, credential: { kind: "session", id: "" } as const };
    return isMade && caller !== undefined && this.visibilityOf(caller).shows(record);
  }

  holderName(holder: Holder): string {
    const principal = this.#principalOf(holder);
    return principal ? nameOf(principal) : holder.kind;
  }

  findPerson(id: string): PersonPrincipal | undefined {
    const person = this.records.state.people.find((one) => one.id === id);
    return person && { kind: "person", id, name: person.name, isAdmin: person.isAdmin };
  }

  /**
   * SECURITY: tries are slowed by an answer that says so, and a caller with a real credential is never locked out: on
   * loopback all callers have the same address, so any user of the machine could use a lock against the others.
   */
  #failed(error: AgentBoxError): AgentBoxError {
    if (this.#failures.take("all")) {
      this.refused(error.code);
      return error;
    }
    return new AgentBoxError("access.too_many", "Too many credentials that are not valid were tried.", {
      hint: "Wait a minute.",
    });
  }

  #principalOf(holder: Holder): Exclude<Principal, { kind: "token" }> | undefined {
    if (holder.kind === "owner") return { kind: "owner" };
    if (holder.kind === "person")
      return this.#isConfirmed(holder.person) ? this.findPerson(holder.person) : undefined;
    const share = this.records.state.shares.find(({ id }) => id === holder.share);
    if (!share || share.person !== undefined || !this.#isCurrent(share)) return undefined;
    // SECURITY: a link that a member sent to themselves must not outlive their membership.
    if (share.by !== undefined && !this.#isConfirmed(share.by)) return undefined;
    const { id, box, incarnation, may } = share;
    return { kind: "guest", share: id, box, incarnation, may };
  }

  /**
   * SECURITY: a token must not outlive its person's membership for long, even if the provider cannot be asked.
   */
  #isConfirmed(id: string): boolean {
    const person = this.records.state.people.find((one) => one.id === id);
    const confirmedAtMs = person?.confirmedAtMs ?? person?.signedInAtMs ?? 0;
    return person?.isBarred !== true && confirmedAtMs + confirmedForMs > this.#nowMs;
  }

  #describe(holder: Holder): Record<string, string> {
    if (holder.kind === "person") return { who: "person", person: holder.person };
    return holder.kind === "guest" ? { who: "guest", share: holder.share } : { who: "owner" };
  }

  #isCurrent({ expiresAtMs = Infinity }: { readonly expiresAtMs?: number | undefined }): boolean {
    return expiresAtMs > this.#nowMs;
  }

  #isLive(session: SessionRecord): boolean {
    return this.#isCurrent(session) && session.usedAtMs + sessionIdleMs > this.#nowMs;
  }

  /** At most once a minute for each: it is a write. */
  #touch(
    list: "sessions" | "tokens",
    { id, usedAtMs = 0 }: { id: string; usedAtMs?: number | undefined },
  ): void {
    const nowMs = this.#nowMs;
    if (nowMs - usedAtMs < minuteMs || this.#touching.has(id)) return;
    this.#touching.add(id);
    const touched = <T extends { readonly id: string }>(all: readonly T[]): T[] =>
      all.map((one) => (one.id === id ? { ...one, usedAtMs: nowMs } : one));
    this.#core.background(
      "noting a use",
      this.change((state) => ({ ...state, [list]: touched<{ readonly id: string }>(state[list]) })).finally(
        () => this.#touching.delete(id),
      ),
    );
  }

  #withoutEnded(state: AccessState): AccessState {
    const shares = state.shares.filter((share) => this.#isCurrent(share));
    const known = new Set(shares.map(({ id }) => id));
    const tokens = state.tokens.filter((token) => this.#isCurrent(token));
    const makers = new Set(tokens.map(({ id }) => id));
    return {
      ...state,
      shares,
      tokens,
      receivers: state.receivers.filter(({ madeWith }) => madeWith === undefined || makers.has(madeWith)),
      sessions: state.sessions.filter(
        (session) =>
          this.#isLive(session) && (session.holder.kind !== "guest" || known.has(session.holder.share)),
      ),
    };
  }
}

export const unauthenticated = (message: string): AgentBoxError =>
  new AgentBoxError("access.unauthenticated", message, { hint: "Sign in again: agentbox open" });

const linkUsed = (): AgentBoxError =>
  new AgentBoxError("access.link_used", "This link was opened already, or is too old.", {
    hint: "Make a new one: agentbox open",
  });
