/** The daemon's own log. Nothing that came from a box is logged unescaped, and no secret is ever passed in. */
import { pino } from "pino";

export interface Logger {
  debug(facts: Record<string, unknown>, message: string): void;
  info(facts: Record<string, unknown>, message: string): void;
  warn(facts: Record<string, unknown>, message: string): void;
  error(facts: Record<string, unknown>, message: string): void;
}

/** JSON lines on stdout; the daemon's stdout is its log file. */
export const openLogger = (level: string): Logger => pino({ level, base: null });

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
