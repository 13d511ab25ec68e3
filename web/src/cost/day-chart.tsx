/** A bar for each day. The table below it says the same for those who cannot see it. */
import { useId } from "react";
import type { UsageAnswer } from "../../../src/contract/api/schemas.ts";
import { formatCount, formatMoney } from "../parts/format.ts";
import { useWidth } from "../parts/use-width.ts";

export type Measure = "cost" | "tokens";
type Totals = UsageAnswer["totals"];

const height = 228;
const base = height - 22;
const labelWidth = 64;

export const amountOf = (totals: Totals | undefined, measure: Measure): number =>
  totals === undefined
    ? 0
    : measure === "cost"
      ? totals.costMicroUsd
      : totals.usage.input + totals.usage.output;

const formatAmount = (amount: number, measure: Measure): string =>
  measure === "cost" ? formatMoney(amount) : `${formatCount(amount)} tokens`;

interface DayChartProps {
  readonly days: readonly string[];
  readonly totals: ReadonlyMap<string, Totals>;
  readonly measure: Measure;
}

export function DayChart({ days, totals, measure }: DayChartProps) {
  const title = useId();
  const [width, setPosition] = useWidth();
  const amounts = days.map((day) => amountOf(totals.get(day), measure));
  const most = Math.max(...amounts, 1);
  const step = width / Math.max(days.length, 1);
  const bar = Math.max(1, Math.min(48, step * 0.72));
  const labelEvery = Math.max(1, Math.ceil((days.length * labelWidth) / Math.max(width, 1)));
  const sum = formatAmount(
    amounts.reduce((all, one) => all + one, 0),
    measure,
  );
  return (
    <div ref={setPosition} className="cost-chart-area">
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the drawing is part of the page, so no image file stands for it */}
      <svg className="cost-chart" width={width} height={height} role="img" aria-labelledby={title}>
        <title id={title}>{`${sum} in ${days.length} days, ${formatAmount(most, measure)} at most`}</title>
        <line className="cost-chart-line" x1="0" x2={width} y1={base} y2={base} />
        <text className="cost-chart-text" x="0" y="11">
          {formatAmount(Math.max(...amounts, 0), measure)}
        </text>
        {days.map((day, index) => {
          const amount = amounts[index] ?? 0;
          const tall = amount === 0 ? 0 : Math.max(2, (amount / most) * (base - 18));
          const x = index * step + (step - bar) / 2;
          return (
            <g key={day}>
              <rect
                className="cost-chart-bar"
                x={x}
                y={base - tall}
                width={bar}
                height={tall}
                rx={Math.min(3, bar / 3)}
              >
                <title>{`${day}: ${formatAmount(amount, measure)}`}</title>
              </rect>
              {index % labelEvery === 0 ? (
                <text
                  className="cost-chart-text"
                  x={index === 0 ? 0 : index * step + step / 2}
                  y={height - 5}
                  textAnchor={index === 0 ? "start" : "middle"}
                >
                  {day.slice(5)}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
    </div>
  );
}
