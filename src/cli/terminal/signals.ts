import type { Stream } from "../../client/index.ts";

const forwarded = { SIGINT: "INT", SIGTERM: "TERM", SIGHUP: "HUP" } as const;
const secondWithinMs = 2_000;
/** A box that is frozen, or whose supervisor is, hears nothing: whoever asked to end is not kept waiting for it. */
const patienceMs = 5_000;

/**
 * Hands signals on to the command in the box. A second ctrl-c within two seconds ends it by force; a request to
 * terminate that nobody follows ends the conversation itself.
 */
export function forwardSignals(stream: Stream): Disposable {
  let lastInterrupt = -Infinity;
  let giveUp: NodeJS.Timeout | undefined;
  const send = (signal: string) => stream.sendText(JSON.stringify({ type: "signal", signal }));
  const listeners = Object.entries(forwarded).map(([name, signal]) => {
    const listener = () => {
      const now = performance.now();
      const isSecond = name === "SIGINT" && now - lastInterrupt < secondWithinMs;
      if (name === "SIGINT") lastInterrupt = now;
      send(isSecond ? "KILL" : signal);
      if (isSecond || name !== "SIGINT") giveUp ??= setTimeout(() => stream.close(), patienceMs);
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  return {
    [Symbol.dispose]() {
      clearTimeout(giveUp);
      for (const stop of listeners) stop();
    },
  };
}
