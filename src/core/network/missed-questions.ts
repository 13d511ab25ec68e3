/**
 * Questions that ended without an answer: nobody was there in time, or the program gave up first. Nothing waits for them any
 * more, so a late yes lets nothing through by itself; it can only allow the same from now on. Bounded for each box and
 * altogether, and gone with the box.
 */
import type { Approval, MissedApproval } from "../../contract/network/egress.ts";
import type { ApprovalRequest } from "../../ports/gate.ts";

/** SECURITY: a box that asks and gives up in a loop fills its own places and no more memory than that. */
const maxPerBox = 16;
const maxAltogether = 512;

export interface MissedQuestion {
  readonly approval: Approval;
  readonly request: ApprovalRequest;
}

interface Kept extends MissedQuestion {
  readonly missed: MissedApproval;
}

export class MissedQuestions {
  readonly #kept = new Map<number, Kept>();

  /** The newest first. */
  list(): MissedApproval[] {
    return [...this.#kept.values()].map(({ missed }) => missed).reverse();
  }

  find(id: number): MissedQuestion | undefined {
    return this.#kept.get(id);
  }

  /** A request that can only be granted each time anew, or that would be remembered as a pattern, is not kept. */
  keep({ approval, request }: MissedQuestion, missedAtMs: number): void {
    if (request.secret?.isOnce === true || request.path?.includes("*") === true) return;
    const times = this.drop(approval.digest) + 1;
    const { expiresAtMs: _expiresAtMs, ...asked } = approval;
    this.#kept.set(approval.id, { approval, request, missed: { ...asked, missedAtMs, times } });
    const own = [...this.#kept.values()].filter((one) => one.request.box.name === request.box.name);
    if (own.length > maxPerBox) this.#kept.delete(own[0]!.approval.id);
    else if (this.#kept.size > maxAltogether) this.#kept.delete([...this.#kept.keys()][0]!);
  }

  /** Takes out the same request; returns how often it was missed. */
  drop(digest: string): number {
    const same = [...this.#kept.values()].find(({ approval }) => approval.digest === digest);
    if (same === undefined) return 0;
    this.#kept.delete(same.approval.id);
    return same.missed.times;
  }

  /** The box is gone. */
  forget({ incarnation }: { readonly incarnation: string }): void {
    for (const [id, { request }] of this.#kept)
      if (request.box.incarnation === incarnation) this.#kept.delete(id);
  }
}
