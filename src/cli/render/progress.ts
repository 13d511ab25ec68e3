import { plainText } from "../terminal/plain-lines.ts";
import type { Screen } from "./screen.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const patienceMs = 700;

/**
 * Says what takes so long, once it takes long: a line that turns on a terminal, one plain line elsewhere. Quick
 * work shows nothing, and nothing ever goes to stdout. A text that changes is shown as it is.
 */
export async function withProgress<T>(
  screen: Screen,
  text: string | (() => string),
  task: () => Promise<T>,
): Promise<T> {
  if (screen.isJson) return task();
  const say = () => plainText(typeof text === "string" ? text : text());
  const { stderr } = screen.streams;
  let frame = 0;
  let ticking: NodeJS.Timeout | undefined;
  const draw = () =>
    stderr.write(`\r\u001b[K${screen.errorStyle.cyan(frames[frame++ % frames.length]!)} ${say()}`);
  const patience = setTimeout(() => {
    if (!stderr.isTTY) screen.note(`${say()} …`);
    else {
      draw();
      ticking = setInterval(draw, 80);
    }
  }, patienceMs);
  try {
    return await task();
  } finally {
    clearTimeout(patience);
    if (ticking) {
      clearInterval(ticking);
      stderr.write("\r\u001b[K");
    }
  }
}
