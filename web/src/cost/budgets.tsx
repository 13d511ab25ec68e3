/** Limits of boxes that have spent something, and what has happened to limits lately. */
import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { BudgetAnswer, BoxSummary } from "../../../src/contract/api/schemas.ts";
import type { BoxEvent } from "../../../src/contract/events.ts";
import type { BudgetStatus } from "../../../src/contract/model/budget.ts";
import { client } from "../api/client.ts";
import { Ago } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { formatCount, formatMoney } from "../parts/format.ts";
import { Skeleton } from "../parts/note.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";

/** Each costs a question; those who have spent most are the ones a limit is about. */
const mostBoxes = 30;
const mostEvents = 30;

const budgetQuery = (box: string) =>
  queryOptions({ queryKey: ["usage", "budget", box], queryFn: () => client.getBudget(box) });

const budgetEvents = ["budget.exhausted", "budget.warned", "budget.raised"] as const;
const eventsQuery = queryOptions({
  queryKey: ["usage", "budget-events"],
  queryFn: async () => {
    const pages = await Promise.all(
      budgetEvents.map((type) => client.listEvents({ type, limit: mostEvents, order: "newest" })),
    );
    return pages
      .flatMap(({ events }) => events)
      .sort((a, b) => b.id - a.id)
      .slice(0, mostEvents);
  },
});

const scopeNames = {
  run: "this run",
  box: "the box",
  day: "the day",
  tree: "the box and those below",
} as const;
const layers = { user: "your limit", project: "the project's", flag: "as started" } as const;

export function Budgets({ boxes }: { boxes: readonly BoxSummary[] }) {
  const spenders = boxes
    .filter(({ tokens = 0 }) => tokens > 0)
    .sort((a, b) => (b.costMicroUsd ?? 0) - (a.costMicroUsd ?? 0))
    .slice(0, mostBoxes);
  const answers = useQueries({ queries: spenders.map(({ name }) => budgetQuery(name)) });
  const known = answers.flatMap(({ data }) => (data && data.limits.length > 0 ? [data] : []));
  const isPending = answers.some((answer) => answer.isPending);
  return (
    <section className="parts-stack" aria-labelledby="cost-budgets">
      <h2 id="cost-budgets">Budgets</h2>
      {isPending ? <Skeleton height={80} label="Loading the budgets" /> : <Limits answers={known} />}
      <BudgetLog />
    </section>
  );
}

function Limits({ answers }: { answers: readonly BudgetAnswer[] }) {
  if (answers.length === 0)
    return (
      <p className="quiet">
        No box with costs has a limit. Set one with <code>--budget-usd 5</code>, or for every box in your
        configuration.
      </p>
    );
  return (
    <ul className="cost-limits">
      {answers.flatMap(({ box, limits, isExhausted }) =>
        limits.map((limit) => (
          <Limit key={`${box} ${limit.scope} ${limit.layer}`} {...{ box, limit, isExhausted }} />
        )),
      )}
    </ul>
  );
}

interface LimitProps {
  readonly box: string;
  readonly limit: BudgetStatus;
  readonly isExhausted: boolean;
}

function Limit({ box, limit, isExhausted }: LimitProps) {
  const parts = [
    limit.microUsd === undefined
      ? undefined
      : { used: limit.usedMicroUsd, of: limit.microUsd, format: formatMoney, unit: "" },
    limit.tokens === undefined
      ? undefined
      : { used: limit.usedTokens, of: limit.tokens, format: formatCount, unit: " tokens" },
  ].filter((part) => part !== undefined);
  return (
    <li className="cost-limit">
      <span className="parts-row">
        <Link to="/box/$name" params={{ name: box }}>
          {box}
        </Link>
        <span className="quiet small">
          {scopeNames[limit.scope]}, {layers[limit.layer]}
        </span>
        {isExhausted ? <Badge tone="bad">used up</Badge> : null}
      </span>
      {parts.map(({ used, of, format, unit }) => (
        <span key={unit} className="cost-meter">
          <meter
            min={0}
            max={of}
            high={of * 0.8}
            optimum={0}
            value={Math.min(used, of)}
            aria-label={`${box}: ${format(used)} of ${format(of)}${unit}`}
          />
          <span className="small">
            {format(used)} of {format(of)}
            {unit}
          </span>
        </span>
      ))}
    </li>
  );
}

const tones = { "budget.exhausted": "bad", "budget.warned": "warn", "budget.raised": "good" } as const;
const verbs = {
  "budget.exhausted": "used up",
  "budget.warned": "80 % used",
  "budget.raised": "raised",
} as const;

const amount = (unit: unknown, n: unknown): string =>
  typeof n !== "number" ? "?" : unit === "microUsd" ? formatMoney(n) : `${formatCount(n)} tokens`;

function sentenceOf({ type, data }: BoxEvent): string {
  if (type === "budget.raised") {
    const added = [
      typeof data["microUsd"] === "number" ? formatMoney(data["microUsd"]) : undefined,
      typeof data["tokens"] === "number" ? `${formatCount(data["tokens"])} tokens` : undefined,
    ].filter((part) => part !== undefined);
    const scopes = Array.isArray(data["scopes"]) ? data["scopes"] : [];
    return `${added.join(" and ")} more for ${scopes.map(scopeName).join(" and ")}`;
  }
  return `${amount(data["unit"], data["used"])} of ${amount(data["unit"], data["limit"])} for ${scopeName(data["scope"])}`;
}

const scopeName = (scope: unknown): string =>
  typeof scope === "string" && scope in scopeNames ? scopeNames[scope as keyof typeof scopeNames] : "a limit";

function BudgetLog() {
  const events = useQuery(eventsQuery).data;
  if (events === undefined) return <Skeleton height={80} label="Loading what happened" />;
  if (events.length === 0) return <p className="quiet">No limit has been reached yet.</p>;
  return (
    <TableScroll>
      <table className="table">
        <caption className="visually-hidden">What happened to budgets, the newest first</caption>
        <tbody>
          {events.map((event) => {
            const type = event.type as keyof typeof tones;
            return (
              <tr key={event.id}>
                <td>
                  <Badge tone={tones[type]}>{verbs[type]}</Badge>
                </td>
                <td>{event.box ?? ""}</td>
                <td>{sentenceOf(event)}</td>
                <td className="number">
                  <Ago atMs={event.atMs} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </TableScroll>
  );
}
