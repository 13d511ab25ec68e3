import type { Stream } from "../../client/index.ts";

const forwarded = { SIGINT: "INT", SIGTERM: "TERM", SIGHUP: "HUP" } as const;
const secondWithinMs = 2_000;

/** Hands signals on to the command in the box. A second ctrl-c within two seconds ends it by force. */
export function forwardSignals(stream: Stream): Disposable {
  let lastInterrupt = -Infinity;
  const send = (signal: string) => stream.sendText(JSON.stringify({ type: "signal", signal }));
  const listeners = Object.entries(forwarded).map(([name, signal]) => {
    const listener = () => {
      const now = performance.now();
      const isSecond = name === "SIGINT" && now - lastInterrupt < secondWithinMs;
      if (name === "SIGINT") lastInterrupt = now;
      send(isSecond ? "KILL" : signal);
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  return { [Symbol.dispose]: () => listeners.forEach((stop) => stop()) };
}
