// Runs in the page: the dashboard's own screen, fed from memory. What a terminal costs without any connection.
import { TerminalScreen } from "../../web/src/terminal/screen.ts";

const ignore = () => undefined;
const events = { typed: ignore, bytes: ignore, link: ignore, title: ignore, copy: ignore };

/** Milliseconds for the output of `seq 1 last`, in pieces that follow each other as a reader of a pty hands them over. */
globalThis.localSeq = async (last, { cols, rows, pieceBytes }) => {
  const place = document.createElement("div");
  const host = document.querySelector(".terminal-host");
  place.style.width = `${host.clientWidth}px`;
  place.style.height = `${host.clientHeight}px`;
  host.before(place);
  host.style.display = "none";
  const screen = new TerminalScreen(place, { fontSize: 13, isCompact: true, isReadOnly: true, events });
  screen.resize({ cols, rows });
  let text = "";
  for (let number = 1; number <= last; number += 1) text += `${number}\r\n`;
  const bytes = new TextEncoder().encode(text);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const started = performance.now();
  for (let at = 0; at < bytes.length; at += pieceBytes)
    await new Promise((resolve) => screen.terminal.write(bytes.subarray(at, at + pieceBytes), resolve));
  const tookMs = performance.now() - started;
  screen.dispose();
  place.remove();
  host.style.display = "";
  return tookMs;
};
