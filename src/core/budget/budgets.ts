/**
 * Metering and budgets of all boxes: the half of the model gateway's listener that says yes or no and counts. Every
 * request becomes one record, whether a limit holds for it or not.
 */
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { BudgetAnswer } from "../../contract/api/schemas.ts";
import type { Box } from "../../contract/box.ts";
import type { ModelPrice } from "../../contract/model/price.ts";
import { builtInPrices } from "../../contract/model/price-table.ts";
import { type NewModelRecord, noUsage, type TokenUsage } from "../../contract/model/usage.ts";
import type { Admission, ModelOutcome, ModelRequest } from "../../ports/model-gateway.ts";
import type { ModelQuery, Store } from "../../ports/store.ts";
import { type Amount, amountOf, checkedUsage, tokenCount } from "./amount.ts";
import { BudgetNotices, type NoticeContext } from "./budget-notices.ts";
import { costOf, mostItCosts } from "./cost.ts";
import type { MeterTotals, Obstacle } from "./decide-reservation.ts";
import { BudgetLedger } from "./ledger.ts";
import { type HeldLimit, limitsOf } from "./limits-of.ts";
import { type Origin, runOf } from "./meter.ts";
import { dearestFactor, multiplied, priceWith, settledTerms } from "./price-terms.ts";
import { findPrice, type Prices } from "./prices.ts";
import { UsageJournal } from "./usage-journal.ts";
import { printable } from "../../base/printable.ts";
import type { BudgetObstacle, BudgetScope } from "../../contract/model/budget.ts";
import { budgetAmount, raiseFlags } from "../../contract/model/budget-words.ts";

/** The message that an agent shows when it may not go on: one sentence, with the numbers and the way out. */
const scopeNames: Readonly<Record<BudgetScope, string>> = {
  run: "this run",
  box: "this box",
  day: "today",
  tree: "this tree of boxes",
};

function exhaustedMessage(obstacle: Obstacle): string {
  const { held, unit, used, limit } = obstacle;
  const left = budgetAmount(Math.max(0, limit - used), unit);
  const { scope, layer } = held.limit;
  const facts = obstacleOf(obstacle);
  const command = `agentbox budget raise ${held.holder} --scope ${scope} ${raiseFlags(facts)}`;
  return `The budget of ${scopeNames[scope]} (${budgetAmount(limit, unit)}, set by ${layer}) has ${left} left, and this request may use ${budgetAmount(facts.next, unit)}; raise it with: ${command}`;
}

const obstacleOf = ({ held, unit, used, limit, next = 0 }: Obstacle): BudgetObstacle => ({
  scope: held.limit.scope,
  unit,
  used,
  limit,
  next,
  holder: held.holder,
});

const priceUnknownMessage = (model: string): string =>
  `A budget of money holds for this box and the price of the model "${printable(model.slice(0, 80))}" is not known; set it under [model.prices] in the user configuration, or choose another model.`;

const termUnknownMessage = (model: string, terms: readonly string[]): string =>
  `A budget of money holds for this box and what ${terms.map((term) => `"${printable(term)}"`).join(" and ")} costs with the model "${printable(model.slice(0, 80))}" is not known; leave it out of the request, or set it under [model.prices."${printable(model.slice(0, 80))}".terms] in the user configuration.`;

/** The part of Core that budgets need. */
export interface BudgetContext extends NoticeContext {
  readonly ports: {
    readonly store: Pick<Store, "findBox" | "listEvents" | "recordModel" | "sumModel">;
    readonly clock: Clock;
    readonly report: (facts: Record<string, unknown>, message: string) => void;
  };
}

/** A request that was let through and is not settled. */
interface Admitted {
  readonly box: Box;
  readonly origin: Origin;
  readonly estimate: { readonly input: number; readonly output: number };
  /** Of the standard; undefined when it is not known. */
  readonly listed: ModelPrice | undefined;
  readonly terms: readonly string[];
  readonly limits: readonly HeldLimit[];
}

export class Budgets {
  readonly #core: BudgetContext;
  readonly #onExhausted: (box: Box) => void;
  readonly #journal: UsageJournal;
  readonly #ledger: BudgetLedger;
  readonly #notices: BudgetNotices;
  readonly #admitted = new Map<string, Admitted>();
  readonly #settledListeners: ((record: NewModelRecord) => void)[] = [];
  #ownPrices: Prices = {};
  /** Counts changes of limits; a refusal by limits that have changed meanwhile is void. */
  #limitsVersion = 0;

  /** `onExhausted` is called at once with each refusal; the box is to be paused. */
  constructor(core: BudgetContext, onExhausted: (box: Box) => void) {
    this.#core = core;
    this.#onExhausted = onExhausted;
    this.#journal = new UsageJournal(
      () => core.ports.store,
      (error) => core.ports.report({ error: String(error) }, "requests to models could not be recorded"),
    );
    this.#ledger = new BudgetLedger((query, use) => this.#journal.sum(query, use));
    this.#notices = new BudgetNotices(core);
  }

  /** Hands over the usage so far, written or not, while none is being added. */
  sum(query: ModelQuery, use: (total: Amount) => void): Promise<void> {
    return this.#journal.sum(query, use);
  }

  /** Calls back with each request that is settled, when it is part of what `sum` hands over. */
  onSettled(listener: (record: NewModelRecord) => void): void {
    this.#settledListeners.push(listener);
  }

  /** Date of the built-in prices. */
  get pricesOf(): string {
    return builtInPrices.date;
  }

  /** The person's own prices win over the built-in ones. For requests from now on. */
  setPrices(prices: Prices): void {
    this.#ownPrices = prices;
  }

  /** Limits in a specification have changed: who is being judged by the old ones is judged again. */
  limitsChanged(): void {
    this.#limitsVersion += 1;
  }

  async admit(request: ModelRequest, signal: AbortSignal): Promise<Admission> {
    await Promise.all([this.#journal.requireWritable(), this.#notices.ready()]);
    const listed = findPrice(request.model, [this.#ownPrices, builtInPrices.prices]);
    const { terms = [] } = request;
    const { price, unknown } = listed ? priceWith(terms, listed) : { price: listed, unknown: [] };
    const want = {
      input: tokenCount(request.estimate.input),
      output: tokenCount(request.estimate.longest ?? request.estimate.output),
      price,
    };
    for (;;) {
      const version = this.#limitsVersion;
      const { box, limits, atMs } = await this.#limitsNow(request.box.name, request.box.incarnation);
      if ((!price || unknown.length > 0) && holdsMoney(limits)) {
        return {
          outcome: "refused",
          code: "model.price_unknown",
          message: price ? termUnknownMessage(request.model, unknown) : priceUnknownMessage(request.model),
        };
      }
      const origin = originOf(box, atMs);
      const reservation = await this.#ledger.reserve(origin, want, limits, signal);
      if (reservation.outcome === "granted") {
        const { ticket, output } = reservation;
        const estimate = {
          input: want.input,
          output: Math.min(output, tokenCount(request.estimate.output)),
        };
        this.#admitted.set(ticket, { box, origin, estimate, listed, terms, limits });
        return { outcome: "admitted", ticket, ...(output < want.output ? { maxOutput: output } : {}) };
      }
      if (version === this.#limitsVersion) return this.#refuse(box, reservation.obstacle);
    }
  }

  settle(ticket: string, request: ModelRequest, outcome: ModelOutcome): void {
    const admitted = this.#admitted.get(ticket);
    if (!admitted) return;
    this.#admitted.delete(ticket);
    const record = recordOf(admitted, request, outcome);
    // Recorded first: a killed daemon may forget what it reserved, but not what was used.
    this.#journal.add(record);
    for (const listener of this.#settledListeners) listener(record);
    this.#ledger.settle(ticket, amountOf(record));
    this.#core.background("looking at the level of budgets", this.#noteLevels(admitted));
  }

  async status(name: string): Promise<BudgetAnswer> {
    await this.#notices.ready();
    const { box, limits } = await this.#limitsNow(name);
    const levels = await Promise.all(
      limits.map(async (held) => ({ held, totals: await this.#ledger.totals(held.meter) })),
    );
    return {
      box: name,
      limits: levels.map(({ held, totals: { used, reserved } }) => ({
        ...held.limit,
        usedTokens: used.tokens,
        usedMicroUsd: used.microUsd,
        reservedTokens: reserved.tokens,
        reservedMicroUsd: reserved.microUsd,
      })),
      isExhausted: levels.some(({ held, totals }) => this.#isExhausted(box, held, totals)),
      ...omitUndefined({
        obstacle: this.#refusedFor(
          box,
          levels.flatMap(({ held, totals }) => levelsOf(held, totals)),
        ),
      }),
    };
  }

  /** The limit that refused a request of the box, as long as it would refuse it again. */
  async obstacle(box: Box): Promise<BudgetObstacle | undefined> {
    await this.#notices.ready();
    const atMs = this.#core.ports.clock.nowMs();
    const limits = await limitsOf(box, (one) => this.#core.ports.store.findBox(one), atMs);
    const levels = limits.map(async (held) => levelsOf(held, await this.#ledger.totals(held.meter)));
    return this.#refusedFor(box, (await Promise.all(levels)).flat());
  }

  #refusedFor(box: Box, levels: readonly Obstacle[]): BudgetObstacle | undefined {
    for (const level of levels) {
      const next = this.#notices.refused(box, level);
      if (next !== undefined) return obstacleOf({ ...level, next });
    }
    return undefined;
  }

  async isExhausted(box: Box): Promise<boolean> {
    const atMs = this.#core.ports.clock.nowMs();
    const limits = await limitsOf(box, (one) => this.#core.ports.store.findBox(one), atMs);
    return (await this.#exhausted(box, limits)).length > 0;
  }

  /** Limits that a request of the box was refused for, or that are used up. */
  async exhaustedLimits(name: string): Promise<readonly HeldLimit[]> {
    const { box, limits } = await this.#limitsNow(name);
    return this.#exhausted(box, limits);
  }

  async #exhausted(box: Box, limits: readonly HeldLimit[]): Promise<readonly HeldLimit[]> {
    await this.#notices.ready();
    const found: HeldLimit[] = [];
    for (const held of limits) {
      if (this.#isExhausted(box, held, await this.#ledger.totals(held.meter))) found.push(held);
    }
    return found;
  }

  /** The box has stopped or is gone; also days that are over are dropped. */
  forget({ incarnation }: Pick<Box, "incarnation">): void {
    const today = new Date(this.#core.ports.clock.nowMs()).toISOString().slice(0, 10);
    this.#ledger.forget((key) => {
      const [scope, of] = key.split(" ");
      return scope === "day" ? of !== today : of === incarnation;
    });
  }

  async #limitsNow(
    name: string,
    incarnation?: string,
  ): Promise<{ box: Box; limits: readonly HeldLimit[]; atMs: number }> {
    const findBox = (one: string) => this.#core.ports.store.findBox(one);
    const box = await findBox(name);
    if (!box || (incarnation !== undefined && box.incarnation !== incarnation)) {
      throw new AgentBoxError("box.not_found", `There is no box named "${name.slice(0, 80)}".`);
    }
    const atMs = this.#core.ports.clock.nowMs();
    return { box, limits: await limitsOf(box, findBox, atMs), atMs };
  }

  #refuse(box: Box, obstacle: Obstacle): Admission {
    this.#notices.exhausted(box, obstacle);
    this.#onExhausted(box);
    return { outcome: "refused", code: "budget.exhausted", message: exhaustedMessage(obstacle) };
  }

  #isExhausted(box: Box, held: HeldLimit, totals: MeterTotals): boolean {
    return levelsOf(held, totals).some(
      (level) => level.used >= level.limit || this.#notices.wasExhausted(box, level),
    );
  }

  async #noteLevels({ box, limits }: Admitted): Promise<void> {
    for (const held of limits) {
      const totals = await this.#ledger.totals(held.meter);
      for (const level of levelsOf(held, totals)) this.#notices.level(box, level);
    }
  }
}

/** One entry for each number a limit has. */
function levelsOf(held: HeldLimit, { used }: MeterTotals): Obstacle[] {
  return (["tokens", "microUsd"] as const).flatMap((unit) => {
    const limit = held.limit[unit];
    return limit === undefined ? [] : [{ held, unit, used: used[unit], limit }];
  });
}

const originOf = (box: Box, atMs: number): Origin => ({
  atMs,
  box: box.name,
  incarnation: box.incarnation,
  run: runOf(box),
  agent: box.spec.agent.name,
  ...omitUndefined({ projectDir: box.projectDir }),
});

/**
 * An answer without usage counts as what was expected of it; a request that got none, or only an error, counts as
 * nothing, because vendors charge nothing for it.
 */
function recordOf(admitted: Admitted, request: ModelRequest, outcome: ModelOutcome): NewModelRecord {
  // SECURITY: not by the status, which is an error's also where the box left before the end: leaving must not be free.
  const usage = outcome.usage ? checkedUsage(outcome.usage) : outcome.hasAnswer ? undefined : noUsage;
  const { origin, estimate } = admitted;
  const costMicroUsd = costFor(usage, estimate, settledPrice(admitted, outcome.terms));
  return {
    ...origin,
    provider: request.provider,
    model: request.model.slice(0, 256),
    ...omitUndefined({ usage }),
    estimate,
    ...omitUndefined({ costMicroUsd }),
    status: outcome.status,
    ...(outcome.error === undefined ? {} : { error: outcome.error.slice(0, 128) }),
    durationMs: Math.max(0, Math.round(outcome.durationMs)),
    ...(outcome.firstByteMs === undefined
      ? {}
      : { firstByteMs: Math.max(0, Math.round(outcome.firstByteMs)) }),
  };
}

const holdsMoney = (limits: readonly HeldLimit[]): boolean =>
  limits.some(({ limit }) => limit.microUsd !== undefined);

/** The terms by which the answer is charged. Where money is counted, an unknown tier costs as much as the dearest. */
function settledPrice(
  { listed, terms, limits }: Admitted,
  answered: ModelOutcome["terms"],
): ModelPrice | undefined {
  if (listed === undefined) return undefined;
  const { price, unknown } = priceWith(settledTerms(terms, answered), listed);
  if (unknown.length === 0) return price;
  return holdsMoney(limits) ? multiplied(price, dearestFactor) : undefined;
}

/** Undefined when it is not known; without any usage the cost is unknown, too. */
function costFor(
  usage: TokenUsage | undefined,
  { input, output }: Admitted["estimate"],
  price: ModelPrice | undefined,
): number | undefined {
  if (usage && usage.input + usage.output === 0) return 0;
  if (!price) return undefined;
  return usage ? costOf(usage, price) : mostItCosts(input, output, price);
}
