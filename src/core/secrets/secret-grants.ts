/**
 * Who may use which secret, in which way. Every grant is in the store; this keeps them at hand, because each request
 * that carries a secret asks, and a grant that was taken back must not serve the next one.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { GrantScope, SecretGrant } from "../../contract/secret/grant.ts";
import type { RecordParts, Using } from "../using.ts";

/** A use that was asked for: the digest is what counts, the sentence is what a person read. */
export interface AskedUse {
  readonly secret: string;
  readonly use: string;
  readonly sentence: string;
}

/** The use that a grant is compared with. */
export type GrantSubject = Pick<Box, "name" | "incarnation" | "projectDir"> & {
  readonly spec: { readonly agent: { readonly name: string } };
};

export class SecretGrants {
  readonly #core: Using<RecordParts>;
  #known: Promise<readonly SecretGrant[]> | undefined;

  constructor(core: Using<RecordParts>) {
    this.#core = core;
  }

  async list(secret?: string): Promise<readonly SecretGrant[]> {
    this.#known ??= this.#core.ports.store.listSecretGrants();
    const grants = await this.#known.catch((error: unknown) => {
      this.#known = undefined;
      throw error;
    });
    return secret === undefined ? grants : grants.filter((grant) => grant.secret === secret);
  }

  async covers(box: GrantSubject, { secret, use }: Pick<AskedUse, "secret" | "use">): Promise<boolean> {
    const nowMs = this.#core.ports.clock.nowMs();
    const grants = await this.list(secret);
    return grants.some(
      (grant) =>
        grant.use === use &&
        (grant.expiresAtMs === undefined || grant.expiresAtMs > nowMs) &&
        isFor(grant.scope, box),
    );
  }

  async grant(scope: GrantScope, asked: AskedUse, ttlMs?: number): Promise<SecretGrant> {
    const core = this.#core;
    const grantedAtMs = core.ports.clock.nowMs();
    const grant: SecretGrant = {
      ...asked,
      scope,
      grantedAtMs,
      ...(ttlMs === undefined ? {} : { expiresAtMs: grantedAtMs + ttlMs }),
    };
    const { secret, use, sentence, expiresAtMs } = grant;
    const event = core.event("secret.granted", undefined, { secret, scope, use, sentence, expiresAtMs });
    await core.commit({ grantSecret: grant, events: [event] });
    this.#known = undefined;
    return grant;
  }

  /** The number of grants that were taken back. */
  async revoke(secret: string, scope?: GrantScope): Promise<number> {
    const core = this.#core;
    const before = await core.ports.store.listSecretGrants(secret);
    const hits = before.filter((grant) => scope === undefined || isSameScope(grant.scope, scope));
    if (hits.length === 0) {
      throw new AgentBoxError("grant.not_found", `There is no such grant for the secret "${secret}".`, {
        hint: `Look at its grants: agentbox vault show ${secret}`,
      });
    }
    await core.commit({
      revokeSecret: { secret, scope },
      events: [core.event("secret.revoked", undefined, { secret, scope, grants: hits.length })],
    });
    this.#known = undefined;
    return hits.length;
  }
}

function isFor(scope: GrantScope, box: GrantSubject): boolean {
  if (scope.kind === "box") return scope.box === box.name && scope.incarnation === box.incarnation;
  if (scope.kind === "project") return scope.projectDir === box.projectDir;
  return scope.agent === box.spec.agent.name;
}

const isSameScope = (a: GrantScope, b: GrantScope): boolean =>
  (a.kind === "box" && b.kind === "box" && a.box === b.box && a.incarnation === b.incarnation) ||
  (a.kind === "project" && b.kind === "project" && a.projectDir === b.projectDir) ||
  (a.kind === "agent" && b.kind === "agent" && a.agent === b.agent);
