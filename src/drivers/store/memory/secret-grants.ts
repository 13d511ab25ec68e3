/** A person's yes for a secret, as texts by secret, scope and use. Those for one box go with it. */
import { canonicalJson } from "../../../base/digest.ts";
import type { SecretGrant } from "../../../contract/secret/grant.ts";
import type { StoreChange } from "../../../ports/store.ts";

export class SecretGrants {
  readonly #grants = new Map<string, string>();

  change({ remove, revokeSecret, grantSecret }: StoreChange): void {
    if (remove) this.#drop(({ scope }) => scope.kind === "box" && scope.box === remove.name);
    if (revokeSecret) {
      const { secret } = revokeSecret;
      const scope = revokeSecret.scope && canonicalJson(revokeSecret.scope);
      this.#drop((grant) => {
        return grant.secret === secret && (scope === undefined || canonicalJson(grant.scope) === scope);
      });
    }
    if (grantSecret) {
      const { secret, scope, use } = grantSecret;
      this.#grants.set(JSON.stringify([secret, canonicalJson(scope), use]), JSON.stringify(grantSecret));
    }
  }

  list(secret: string | undefined): SecretGrant[] {
    return [...this.#grants]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, text]) => JSON.parse(text) as SecretGrant)
      .filter((grant) => secret === undefined || grant.secret === secret);
  }

  #drop(isMeant: (grant: SecretGrant) => boolean): void {
    for (const [key, text] of this.#grants)
      if (isMeant(JSON.parse(text) as SecretGrant)) this.#grants.delete(key);
  }
}
