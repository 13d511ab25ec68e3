/** The network page of a real box: what it reached, what was denied and why, and "allow this" for exactly that. */
import { afterAll, expect, it } from "vitest";
import {
  type TestBrowser,
  becomesTrue,
  launchBrowser,
  noBrowser,
  settled,
  signedInPage,
} from "../support/browser.ts";
import { boxOn, expectDenied, onNetwork, shell } from "../support/network-ground.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

const box = "denied";
let browser: TestBrowser | undefined;

describeUnless(noBrowser)("the network page", () => {
  onNetwork(
    "of a box",
    (ground) => {
      secondTryAfresh(() => ground.daemon);
      afterAll(() => browser?.[Symbol.asyncDispose]());
      const curl = async (url: string) =>
        (await shell(ground.daemon, box, `curl -sS -m 20 ${url}`, 60_000)).stdout;
      const openPage = (expected: RegExp[] = []) =>
        signedInPage(browser!, ground.daemon, { path: `/box/${box}/network`, expected });

      it("counts what was reached, and says why something was denied", async () => {
        const { daemon } = ground;
        expect(await curl("http://api.test/x")).toContain("the internet");
        await expectDenied(daemon, box, { reason: "no_rule" }, () => curl("http://other.test/x"));
        await using view = await openPage();
        const { page } = view;
        const hosts = page.getByRole("region", { name: "Hosts" });
        await hosts.getByRole("row").filter({ hasText: "api.test:80" }).waitFor();
        await hosts.getByText(/[1-9] denial/).waitFor();
        const denial = page
          .getByRole("region", { name: "Denials" })
          .getByRole("row")
          .filter({ hasText: "other.test" });
        await denial.getByText("no rule names this host").waitFor();
        await denial.getByRole("button", { name: /^Why/ }).click();
        await page.getByText("The box cannot reach other.test on port 80: no rule names it.").waitFor();
        const policy = page.getByRole("region", { name: "Policy in force" });
        await policy.getByText("everything else").waitFor();
        await policy.getByText(/to paste into agentbox\.toml/).click();
        await policy.getByText(/other\.test/).waitFor();
      });

      it("opens exactly what was denied for this box, and the box gets there", async () => {
        const { daemon, network } = ground;
        await boxOn(daemon, "neighbour", {});
        await expectDenied(daemon, box, { reason: "no_rule", host: "ask.test" }, () =>
          curl("https://ask.test/x"),
        );
        expect((await network.arrivals()).filter(({ kind }) => kind !== "dns")).toEqual([]);
        await using view = await openPage();
        const { page } = view;
        const denial = page
          .getByRole("region", { name: "Denials" })
          .getByRole("row")
          .filter({ hasText: "ask.test" });
        await denial.getByRole("button", { name: /^Allow this/ }).click();
        const dialog = page.getByRole("dialog", { name: "Allow this?" });
        await dialog.getByLabel("Remember for").selectOption("15 minutes");
        await dialog.getByText("Let the box denied reach ask.test on port 443, for 15 minutes.").waitFor();
        await dialog.getByRole("button", { name: "Allow", exact: true }).click();
        await dialog.waitFor({ state: "detached" });
        await page
          .getByRole("region", { name: "Policy in force" })
          .getByText("approval:ask.test:443")
          .waitFor();
        expect(await curl("https://ask.test/x")).toContain("the internet");
        // Another port and another box are as before, and the log says who was let where.
        await expectDenied(daemon, box, { host: "ask.test", port: 80 }, () => curl("http://ask.test/x"));
        await expectDenied(daemon, "neighbour", { host: "ask.test" }, () =>
          shell(daemon, "neighbour", "curl -sS -m 20 https://ask.test/x"),
        );
        const { events } = await daemon.client.listEvents({ box, type: "policy.changed" });
        expect(events.map(({ data }) => data["rule"])).toEqual(["approval:ask.test:443"]);
      });

      it("offers nothing for what no rule can open, and the daemon refuses it, too", async () => {
        const { daemon } = ground;
        await expectDenied(daemon, box, { reason: "rule_denies" }, () => curl("http://denied.test/x"));
        await using view = await openPage([/400 \(Bad Request\)/]);
        const { page } = view;
        const denial = page
          .getByRole("region", { name: "Denials" })
          .getByRole("row")
          .filter({ hasText: "denied.test" });
        await denial.getByText("a rule denies it").waitFor();
        expect(await denial.getByRole("button", { name: /^Allow this/ }).count()).toBe(0);
        await expect(daemon.client.allowEgress(box, { host: "denied.test", port: 80 })).rejects.toMatchObject(
          {
            code: "policy.invalid",
          },
        );
      });

      it("fits a phone", async () => {
        await using view = await signedInPage(browser!, ground.daemon, {
          path: `/box/${box}/network`,
          width: 360,
          height: 740,
        });
        const { page } = view;
        await settled(page);
        await becomesTrue("the page is no wider than the screen", () =>
          page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        );
        expect(await page.evaluate(() => innerWidth)).toBe(360);
      });
    },
    {
      async prepare({ daemon, network }) {
        browser = await launchBrowser({ wrap: network.daemonOptions.wrap });
        await boxOn(daemon, box, { allow: ["api.test"], rules: [{ host: "denied.test", mode: "deny" }] });
      },
    },
  );
});
