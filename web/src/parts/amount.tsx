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

const unitWords: Readonly<Record<string, string>> = { d: "d", h: "h", m: "min", s: "s" };

/** For sentences: `5 min`, `1 h 20 min`. */
const spanWords = (ms: number): string =>
  formatSpan(ms).replaceAll(
    /(\d)([dhms])/g,
    (_all, digit: string, unit: string) => `${digit} ${unitWords[unit]}`,
  );

/** How long something has been so. */
export function For({ sinceMs }: { sinceMs: number }) {
  const now = useNow(Date.now() - sinceMs < 2 * minuteMs);
  const date = new Date(sinceMs);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {now - sinceMs < 1_000 ? "just now" : `for ${spanWords(now - sinceMs)}`}
    </time>
  );
}

/** When a question is closed by itself. */
export function DeniedIn({ atMs }: { atMs: number }) {
  const now = useNow(atMs - Date.now() < 2 * minuteMs);
  const date = new Date(atMs);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {atMs <= now ? "Denied: no answer in time" : `Denied automatically in ${spanWords(atMs - now)}`}
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
