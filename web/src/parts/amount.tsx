/** Numbers as people read them: times, sizes, money, counts. */
import { useEffect, useState } from "react";
import { formatBytes, formatCount, formatMoney, formatSpan } from "./format.ts";

/** Renders again as time goes by: every second while it is about seconds, every half minute otherwise. */
function useNow(isQuick: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), isQuick ? 1_000 : 30_000);
    return () => clearInterval(timer);
  }, [isQuick]);
  return now;
}

const minuteMs = 60_000;

export function Ago({ atMs }: { atMs: number }) {
  const now = useNow(Date.now() - atMs < 2 * minuteMs);
  const date = new Date(atMs);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {now - atMs < 1_000 ? "now" : `${formatSpan(now - atMs)} ago`}
    </time>
  );
}

export function Left({ untilMs }: { untilMs: number }) {
  const now = useNow(untilMs - Date.now() < 2 * minuteMs);
  const date = new Date(untilMs);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {untilMs <= now ? "over" : `${formatSpan(untilMs - now)} left`}
    </time>
  );
}

export const Bytes = ({ n }: { n: number }) => <span className="mono">{formatBytes(n)}</span>;
export const Money = ({ microUsd }: { microUsd: number }) => (
  <span title={`${microUsd / 1e6} US dollars`}>{formatMoney(microUsd)}</span>
);
export const Count = ({ n }: { n: number }) => <span title={String(n)}>{formatCount(n)}</span>;
