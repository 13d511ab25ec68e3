/** A person's yes for a secret, one row for each scope and use. Those for one box go with it. */
import { canonicalJson } from "../../../base/digest.ts";
import type { SecretGrant } from "../../../contract/secret/grant.ts";
import type { StoreChange } from "../../../ports/store.ts";
import type { SqlAccess } from "./sql-access.ts";

export class SecretGrantTable {
  readonly #sql: SqlAccess;

  constructor(sql: SqlAccess) {
    this.#sql = sql;
  }

  change({ remove, revokeSecret, grantSecret }: StoreChange): void {
    // A name is one box at a time, so what bears it is of this box, or of one that is gone.
    if (remove) this.#sql.run("DELETE FROM secret_grants WHERE box = ?", [remove.name]);
    if (revokeSecret) {
      const { secret, scope } = revokeSecret;
      const key = scope === undefined ? null : canonicalJson(scope);
      const sql = "DELETE FROM secret_grants WHERE secret = ? AND (? IS NULL OR scope = ?)";
      this.#sql.run(sql, [secret, key, key]);
    }
    if (grantSecret) {
      const { secret, scope, use } = grantSecret;
      const box = scope.kind === "box" ? scope.box : null;
      const values = [secret, canonicalJson(scope), use, box, JSON.stringify(grantSecret)];
      this.#sql.run(
        "INSERT OR REPLACE INTO secret_grants (secret, scope, use, box, value) VALUES (?, ?, ?, ?, ?)",
        values,
      );
    }
  }

  list(secret: string | undefined): SecretGrant[] {
    const sql = `SELECT value FROM secret_grants WHERE (? IS NULL OR secret = ?) ORDER BY secret, scope, use`;
    const name = secret ?? null;
    return this.#sql.rows<[string]>(sql, [name, name]).map(([text]) => JSON.parse(text) as SecretGrant);
  }
}
