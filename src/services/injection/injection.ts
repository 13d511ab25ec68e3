/**
 * Puts values into the requests of boxes that have secrets. An error on the way is a refusal, and a request whose destination
 * needs a credential is never sent without it. No value outlives the request it was put into.
 */
import type { Transform } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { isAgentBoxError, systemCode } from "../../base/errors.ts";
import { formOverride } from "../../contract/network/request-overrides.ts";
import type { SecretBinding } from "../../contract/secret/binding.ts";
import { systemClock } from "../../host/clock.ts";
import type { Logger } from "../../host/logger.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { Injection, OutgoingRequest, Prepared, InjectionListener } from "../../ports/injection.ts";
import { BindingTable, type BoxBindings } from "./binding-table.ts";
import type { BodyEncoding } from "./body-decoder.ts";
import { destinationsAt } from "./bound-destination.ts";
import { putValue } from "./injected-request.ts";
import { placeholderVariables } from "./placeholder.ts";
import { PlaceholderScan } from "./placeholder-scan.ts";
import { notGranted, unavailable } from "./refusal.ts";
import { WebSocketScan } from "./websocket-scan.ts";
import { type Wanted, decideRequest, refuseOverride } from "./request-decision.ts";

export interface InjectionOptions {
  readonly listener: InjectionListener;
  readonly logger: Logger;
  readonly clock?: Clock | undefined;
}

const passUnchanged: Prepared = { outcome: "pass", body: undefined };

export class GateInjection implements Injection {
  readonly #table = new BindingTable();
  readonly #listener: InjectionListener;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor({ listener, logger, clock = systemClock }: InjectionOptions) {
    this.#listener = listener;
    this.#clock = clock;
    this.#logger = logger;
  }

  setBox(box: GateBox, bindings: readonly SecretBinding[]): void {
    this.#table.set(box, bindings);
  }

  drop(box: string): void {
    this.#table.drop(box);
  }

  manages(box: GateBox, host: string, port: number): boolean {
    const bindings = this.#table.find(box);
    return bindings !== undefined && destinationsAt(bindings.destinations, host, port).length > 0;
  }

  placeholders(box: GateBox, bindings: readonly SecretBinding[]): Readonly<Record<string, string>> {
    return placeholderVariables(box, bindings);
  }

  prepare(box: GateBox, request: OutgoingRequest, signal: AbortSignal): Prepared | Promise<Prepared> {
    const bindings = this.#table.find(box);
    if (bindings === undefined) return passUnchanged;
    try {
      const decision = decideRequest(bindings, request, this.#clock.nowMs());
      if (decision.outcome === "refuse") return decision;
      const body = scanBody(bindings, request, decision.encoding);
      return decision.outcome === "pass"
        ? { outcome: "pass", body }
        : this.#inject(box, request, decision, body, signal);
    } catch (error) {
      return this.#failed(box, bindings.destinations[0]!.binding.secret, error);
    }
  }

  async #inject(
    box: GateBox,
    request: OutgoingRequest,
    wanted: Wanted,
    body: Transform | undefined,
    signal: AbortSignal,
  ): Promise<Prepared> {
    const { binding, destination } = wanted.bound;
    try {
      if (!(await this.#listener.authorise(box, binding, destination, signal)))
        return notGranted(binding, box);
      const value = await this.#listener.reveal(binding.secret);
      const all = await this.#listener.revealAll(binding.secret);
      const prepared = putValue(request, wanted, [value, ...all], body);
      if (prepared.outcome !== "inject") return prepared;
      return { ...prepared, overridden: refuseOverride(wanted.bound, formOverride) };
    } catch (error) {
      return this.#failed(box, binding.secret, error);
    }
  }

  #failed(box: GateBox, secret: string, error: unknown): Prepared {
    // SECURITY: not the message, which may hold what it was made from.
    const code = isAgentBoxError(error) ? error.code : systemCode(error);
    this.#logger.warn({ box: box.name, secret, code }, "a secret could not be put into a request");
    return unavailable(secret, error);
  }
}

function scanBody(
  { marks }: BoxBindings,
  { hasBody, isUpgrade }: OutgoingRequest,
  encoding: BodyEncoding,
): Transform | undefined {
  if (isUpgrade) return new WebSocketScan(marks);
  return hasBody ? new PlaceholderScan(marks, encoding) : undefined;
}
