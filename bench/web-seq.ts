// `seq 1 1000000` in the dashboard's terminal until the last line is on its screen, against the same bytes written from
// memory into the same terminal in the same page: no box, no pty, no connection. They are written in pieces of 64 KiB,
// each after the one before it, as xterm.js asks of the reader of a pty. Median of 3; the goal is one and a half times.
import { build } from "esbuild";
import { signedInPage, launchBrowser } from "../test/support/browser.ts";
import { withDaemon } from "../test/support/daemon.ts";
import { becomesTrue } from "../test/support/browser.ts";
import { openTerminal, screenText, startBox, startProgram } from "../test/support/web-terminal.ts";
import { type Bench, compare, median } from "./support/bench.ts";
import { whyNoWebBench } from "./support/web-session.ts";

const name = "web-seq";
const last = 1_000_000;
const rounds = 3;
/** It waits for a line, so that the terminal is there before the first byte; the end is told in two words. */
const counts = ["sh", "-c", `stty -echo; while read -r go; do seq 1 ${last}; printf 'seq-%s' "$go"; done`];

interface Measured {
  seqMs?: number;
  localSeq?: (last: number, options: { cols: number; rows: number; pieceBytes: number }) => Promise<number>;
}

const bench: Bench = {
  name,
  about: "seq in the dashboard's terminal against the same bytes from memory",
  needs: { bwrap: "bubblewrap", chromium: "chromium" },
  async run() {
    const missing = await whyNoWebBench();
    if (missing) return [{ name, skipped: missing }];
    const bundle = await build({
      entryPoints: ["bench/support/local-terminal.mjs"],
      bundle: true,
      write: false,
      format: "iife",
      minify: true,
      logLevel: "error",
    });
    const local = bundle.outputFiles[0]!.text;
    return withDaemon(async (daemon) => {
      await startBox(daemon, "counts");
      await startProgram(daemon, "counts", "seq", counts);
      await using browser = await launchBrowser();
      await using view = await signedInPage(browser, daemon);
      const { page, origin } = view;
      await openTerminal(page, origin, "counts", "seq");
      await page.evaluate(local);
      const ours: number[] = [];
      const peer: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const mark = `end${round}`;
        await page.evaluate((wanted) => {
          const rows = document.querySelector(".xterm-rows")!;
          let started = 0;
          document.addEventListener(
            "keydown",
            ({ key }) => {
              if (key === "Enter") started = performance.now();
            },
            { capture: true, once: false },
          );
          const observer = new MutationObserver(() => {
            if (!rows.textContent?.includes(`seq-${wanted}`)) return;
            observer.disconnect();
            (globalThis as Measured).seqMs = performance.now() - started;
          });
          observer.observe(rows, { childList: true, subtree: true, characterData: true });
        }, mark);
        await page.keyboard.type(`${mark}\n`);
        await becomesTrue(
          "it has counted",
          async () => (await screenText(page)).includes(`seq-${mark}`),
          60_000,
        );
        ours.push(await page.evaluate(() => (globalThis as Measured).seqMs ?? Number.NaN));
        peer.push(
          await page.evaluate(
            async (lastNumber) =>
              (await (globalThis as Measured).localSeq?.(lastNumber, {
                cols: 120,
                rows: 33,
                pieceBytes: 65_536,
              })) ?? Number.NaN,
            last,
          ),
        );
        await page.locator(".terminal-host .xterm-screen").click();
      }
      return [
        compare({
          name,
          unit: "ms",
          ours: median(ours),
          peer: median(peer),
          peerName: "the same terminal without a connection",
          goal: 1.5,
        }),
      ];
    });
  },
};
export default bench;
