import { useEffect, useState } from "react";
import { queries } from "../api/queries.ts";

const lookEveryMs = 30;
const mostMs = 2_500;

const isOnItsWay = (): boolean =>
  document.querySelector(".app-main .parts-skeleton") !== null ||
  queries.isFetching({ predicate: ({ state }) => state.data === undefined }) > 0;

/**
 * Whether the first page is all there. Until then it is laid out and not shown, so that nothing moves under somebody's
 * finger while its answers come in one by one; what takes long is shown without waiting any more.
 */
export function useArrival(): boolean {
  const [isArrived, setArrived] = useState(false);
  useEffect(() => {
    const startedAt = performance.now();
    // One look is not enough: what has just come may ask for more.
    let quietLooks = 0;
    const timer = setInterval(() => {
      quietLooks = isOnItsWay() ? 0 : quietLooks + 1;
      if (quietLooks < 3 && performance.now() - startedAt < mostMs) return;
      clearInterval(timer);
      setArrived(true);
    }, lookEveryMs);
    return () => clearInterval(timer);
  }, []);
  return isArrived;
}
