/**
 * A page of a box runs in a person's browser, with that person's network, and not every browser can be told to keep it from
 * sending data out. So a box that has secrets is only shown after its owner's yes, to these secrets of this box.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { Using } from "../../core/using.ts";
import { reachDigest, type SecretInReach, secretsInReach } from "../../core/secrets/secrets-in-reach.ts";

/** More boxes than one person looks into; the oldest are asked about again. */
const maxKept = 1_000;

export interface AgreedPreview {
  readonly box: Box;
  readonly port: number;
  readonly who: string;
  /** Whether the box is theirs; a guest's yes does not count. */
  readonly mayAgree: boolean;
  /** Digest of the list that they agreed to. */
  readonly agreed: string | undefined;
}

/** In memory only: a daemon that starts again asks again. */
export class PreviewConsents {
  readonly #core: Using<"note" | "secretGrants">;
  /** By incarnation: the ids of what was agreed to. */
  readonly #agreed = new Map<string, ReadonlySet<string>>();

  constructor(core: Using<"note" | "secretGrants">) {
    this.#core = core;
  }

  /** Whether nothing of what is in the box's reach now is new since the yes. */
  async covers(box: Box): Promise<boolean> {
    return this.#areCovered(box, await secretsInReach(this.#core, box));
  }

  /** Takes the yes, if there is one, and fails without one where it is needed. */
  async require({ box, port, who, mayAgree, agreed }: AgreedPreview): Promise<void> {
    const reach = await secretsInReach(this.#core, box);
    if (agreed !== undefined && !mayAgree)
      throw new AgentBoxError("access.forbidden", "Only the owner of the box agrees to previews of it.", {
        hint: "Ask the owner to open the preview once.",
      });
    if (agreed === reachDigest(box, reach)) await this.#keep(box, port, who, reach);
    if (!this.#areCovered(box, reach)) throw unconfirmed(box, port, mayAgree ? reach : undefined);
  }

  /** SECURITY: written down before it counts. */
  async #keep(box: Box, port: number, who: string, reach: readonly SecretInReach[]): Promise<void> {
    if (this.#areCovered(box, reach)) return;
    const holds = reach.map(({ text }) => text);
    await this.#core.note("preview.agreed", box, { port, by: who, holds });
    const before = this.#agreed.get(box.incarnation) ?? [];
    this.#agreed.set(box.incarnation, new Set([...before, ...reach.map(({ id }) => id)]));
    for (const oldest of this.#agreed.keys()) {
      if (this.#agreed.size <= maxKept) break;
      this.#agreed.delete(oldest);
    }
  }

  #areCovered({ incarnation }: Box, reach: readonly SecretInReach[]): boolean {
    const agreed = this.#agreed.get(incarnation);
    return reach.every(({ id }) => agreed?.has(id) ?? false);
  }
}

/** A guest is not told what the box has. */
function unconfirmed(box: Box, port: number, reach: readonly SecretInReach[] | undefined): AgentBoxError {
  return new AgentBoxError(
    "preview.unconfirmed",
    `The box "${box.name}" has secrets in its reach, and a page of it can send them out through the browser.`,
    reach === undefined
      ? { hint: "Ask the owner of the box to open the preview once." }
      : {
          hint: `Read the list, then agree with: agentbox preview ${box.name} ${port} --yes`,
          facts: { holds: reach.map(({ text }) => text), digest: reachDigest(box, reach) },
        },
  );
}
