// Opening a conversation of 5,000 entries, from the click on its box to its newest message on the screen, against one of
// 50; and how many frames are late while it is scrolled from its end to its beginning.
import type { Page } from "playwright-core";
import { launchBrowser, noBrowser, signedInPage } from "../test/support/browser.ts";
import { longConversation, talkedBox } from "../test/support/conversations.ts";
import { withDaemon } from "../test/support/daemon.ts";
import { type Bench, compare, percentile } from "./support/bench.ts";

const name = "web-conversation";
const [many, few] = [5_000, 50];
const rounds = 8;
const goalMs = 500;

/** From the address to the picture that has the end of the conversation. The page's code is there already. */
async function open(page: Page, box: string): Promise<number> {
  await page.getByRole("link", { name: box, exact: true }).waitFor();
  return page.evaluate(
    (wanted) =>
      new Promise<number>((resolve) => {
        const startedAt = performance.now();
        document.getElementById(`fleet-box-${wanted}`)?.click();
        const look = (): void => {
          const end = document.querySelector(".talk-row:last-child .talk-note");
          if (end) requestAnimationFrame(() => resolve(performance.now() - startedAt));
          else requestAnimationFrame(look);
        };
        look();
      }),
    box,
  );
}

/** The share of frames that took more than two of the screen's, over 300 frames of a fast scroll upwards. */
const scroll = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const scroller = document.querySelector(".talk-scroller")!;
        let [late, frames, before] = [0, 0, performance.now()];
        const step = (now: number): void => {
          if (now - before > 34) late += 1;
          before = now;
          frames += 1;
          scroller.scrollTop -= 400;
          if (frames < 300) requestAnimationFrame(step);
          else resolve(late / frames);
        };
        requestAnimationFrame(step);
      }),
  );

const bench: Bench = {
  name,
  about: "opening and scrolling a conversation of 5,000 entries against one of 50",
  run: async () => {
    if (noBrowser !== undefined) return [{ name, skipped: noBrowser }];
    return withDaemon(async (daemon) => {
      await talkedBox(daemon, "long-box", longConversation(many));
      await talkedBox(daemon, "short-box", longConversation(few));
      await using browser = await launchBrowser();
      await using view = await signedInPage(browser, daemon);
      const times = { long: [] as number[], short: [] as number[] };
      for (let round = 0; round <= rounds; round += 1)
        for (const which of ["short", "long"] as const) {
          await view.page.goto(view.origin);
          const tookMs = await open(view.page, `${which}-box`);
          // The first round loads the code of the page.
          if (round > 0) times[which].push(tookMs);
        }
      await view.page.getByText(/^\d{4} entries$/).waitFor();
      const late = await scroll(view.page);
      const [ours, peer] = [percentile(times.long, 0.5), percentile(times.short, 0.5)];
      return [
        compare({
          name: `${name}: opening`,
          unit: "ms",
          ours,
          peer,
          peerName: `${few} entries`,
          goal: 1.5,
          alsoOk: percentile(times.long, 0.99) < goalMs,
        }),
        compare({
          name: `${name}: late frames in 100 while scrolling`,
          unit: "",
          ours: late * 100,
          peer: 1,
          peerName: "one in a hundred",
          goal: 1,
        }),
      ];
    });
  },
};
export default bench;
