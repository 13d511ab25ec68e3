/** A request that waits for a person: the question, the effect and duration of a yes, and a no when no answer comes. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { Approval } from "../../src/contract/network/egress.ts";
import { boxOn, onNetwork, recordsOf, shell } from "../support/network-ground.ts";
import type { ProgramResult } from "../support/program.ts";
import { giveTo } from "../support/review.ts";

const box = "asking";

onNetwork(
  "approvals",
  (ground) => {
    const question = (host: string, from = box): Promise<Approval> =>
      waitFor(`the box asks about ${host}`, async () =>
        (await ground.daemon.client.listApprovals()).find((one) => one.host === host && one.box === from),
      );
    const curl = (url: string, from = box): Promise<ProgramResult> =>
      shell(ground.daemon, from, `curl -sS -m 40 -w '\\n%{http_code}' ${url}`, 60_000);

    it("waits for a yes, then goes on, once", async () => {
      const { daemon, network } = ground;
      const running = curl("http://ask.test/first");
      const asked = await question("ask.test");
      expect(asked).toMatchObject({ host: "ask.test", port: 80, box });
      expect(asked.sentence).toContain("ask.test");
      expect(await network.arrivals()).toEqual([]);
      const listed = await daemon.cli(["approvals"]);
      expect(listed.stdout).toContain("ask.test");
      const answered = await daemon.cli(["approvals", "allow", `${asked.id}`]);
      expect(answered.code, answered.stderr).toBe(0);
      expect((await running).stdout).toContain("the internet");
      // The next one is another question: once was once.
      await network.forget();
      const again = curl("http://ask.test/second");
      const next = await question("ask.test");
      expect(next.id).not.toBe(asked.id);
      expect((await daemon.cli(["approvals", "deny", `${next.id}`])).code).toBe(0);
      const refused = await again;
      expect(refused.stdout).toMatch(/not_approved[^]*403/);
      expect(await network.arrivals()).toEqual([]);
      const records = await recordsOf(daemon, box, "ask.test");
      expect(records.map(({ verdict, reason }) => reason ?? verdict)).toEqual(["allow", "not_approved"]);
      const types = (await daemon.client.listEvents({ box, limit: 200 })).events.map(({ type }) => type);
      expect(types).toEqual(expect.arrayContaining(["approval.asked", "approval.answered"]));
    });

    it("says which program asks, where that is to be had at once", async () => {
      const { daemon } = ground;
      // A hint that is left out when finding it would cost too much: on a busy machine not every question has it.
      const named = await waitFor("a question names its program", async () => {
        const running = curl("http://ask.test/who");
        const asked = await question("ask.test");
        await daemon.client.answerApproval(asked.id, { answer: "deny" });
        await running;
        return asked.program;
      });
      expect(named).toContain("curl");
    });

    it("holds for the box when that was the answer, and for this host and port alone", async () => {
      const { daemon, network } = ground;
      const running = curl("https://other.test/x");
      const asked = await question("other.test");
      expect(
        (await daemon.cli(["approvals", "allow", `${asked.id}`, "--scope", "box", "--for", "1h"])).code,
      ).toBe(0);
      expect((await running).stdout).toContain("the internet");
      expect((await curl("https://other.test/again")).stdout).toContain("the internet");
      expect((await daemon.cli(["policy", "show", box])).stdout).toMatch(/other\.test/);
      // Another port, another host and another box are other questions.
      await network.forget();
      await boxOn(daemon, "neighbour", { default: "ask" });
      for (const [url, from] of [
        ["http://other.test/x", box],
        ["https://a.wild.test/x", box],
        ["https://other.test/x", "neighbour"],
      ] as const) {
        const waiting = curl(url, from);
        const host = new URL(url).hostname;
        await daemon.client.answerApproval((await question(host, from)).id, { answer: "deny" });
        expect((await waiting).stdout).not.toContain("the internet");
      }
      expect((await network.arrivals()).filter(({ kind }) => kind !== "dns")).toEqual([]);
    });

    it("never asks about what is forbidden, or what a rule denies", async () => {
      const { daemon, network } = ground;
      for (const url of [
        "http://169.254.169.254/",
        "http://127.0.0.1:3129/",
        "http://denied.test/",
        "http://localhost:1/",
      ])
        expect(
          (await shell(daemon, box, `curl -sS -m 5 -x http://127.0.0.1:3128 ${url}`)).stdout,
        ).not.toContain("the internet");
      expect(await daemon.client.listApprovals()).toEqual([]);
      // A name that leads to a forbidden address is refused even after a yes.
      const running = curl("http://local.test/x");
      await daemon.client.answerApproval((await question("local.test")).id, { answer: "allow" });
      expect((await running).stdout).toContain("forbidden_range");
      expect((await network.arrivals()).filter(({ kind }) => kind !== "dns")).toEqual([]);
      expect(await network.hostArrivals()).toEqual([]);
    });

    it("withdraws the question when the program has gone, so that a late yes allows nothing", async () => {
      const { daemon, network } = ground;
      const running = shell(daemon, box, "curl -sS -m 1 http://six.test/x");
      const asked = await question("six.test");
      await running;
      await waitFor("the question is gone", async () => (await daemon.client.listApprovals()).length === 0);
      const late = await daemon.cli(["approvals", "allow", `${asked.id}`]);
      expect(late.code).not.toBe(0);
      expect(late.stderr).toContain("approval.not_found");
      expect((await network.arrivals()).filter(({ kind }) => kind !== "dns")).toEqual([]);
    });

    it("keeps what was missed, and lets exactly that through from a late yes on", async () => {
      const { daemon, network } = ground;
      await boxOn(daemon, "away", { default: "ask" });
      await shell(daemon, "away", "curl -sS -m 1 http://wild.test/late");
      const missed = await waitFor("it is kept", async () =>
        (await daemon.client.listMissedApprovals()).find(({ box: from }) => from === "away"),
      );
      expect((await daemon.cli(["approvals"])).stdout).toContain(`${missed.id}`);
      // Nothing waits any more: once is no answer, and neither is a yes to something else.
      const once = await daemon.cli(["approvals", "allow", `${missed.id}`]);
      expect(once.stderr).toContain("approval.not_found");
      await expect(
        daemon.client.answerApproval(missed.id, { answer: "allow", scope: "box", digest: "sha256:0" }),
      ).rejects.toMatchObject({ code: "approval.changed" });
      const late = await daemon.cli(["approvals", "allow", `${missed.id}`, "--scope", "box", "--for", "1h"]);
      expect(late.code, late.stderr).toBe(0);
      await network.forget();
      expect((await curl("http://wild.test/late", "away")).stdout).toContain("the internet");
      // Another path of the same host was not asked about.
      const passed = (await network.arrivals()).filter(({ kind }) => kind !== "dns");
      await shell(daemon, "away", "curl -sS -m 1 http://wild.test/other");
      expect((await network.arrivals()).filter(({ kind }) => kind !== "dns")).toEqual(passed);
      expect((await recordsOf(daemon, "away", "wild.test")).at(-1)).toMatchObject({
        path: "/other",
        verdict: "deny",
      });
      await daemon.client.removeBox("away", { force: true });
      expect((await daemon.client.listMissedApprovals()).filter((one) => one.box === "away")).toEqual([]);
    });

    it("does not answer another question by an old number after a restart", async () => {
      const { daemon, network } = ground;
      const restart = async () => {
        await daemon.kill();
        await daemon.start();
        await waitFor("the box is back", async () => (await daemon.client.getBox(box)).isConnected);
      };
      await restart();
      const first = curl("http://ask.test/x");
      const asked = await question("ask.test");
      await restart();
      await first;
      const second = shell(daemon, box, "curl -sS -m 8 http://api.test/x");
      const next = await question("api.test");
      // SECURITY: a person who read the old list must not agree to something else by its number.
      expect(next.id).not.toBe(asked.id);
      await daemon.client.answerApproval(next.id, { answer: "deny" });
      await second;
      expect((await network.arrivals()).filter(({ kind }) => kind !== "dns")).toEqual([]);
    });

    it("holds for the project when that was the answer, and not for another", async () => {
      const { daemon } = ground;
      const [ours, theirs] = ["ours-", "theirs-"].map((prefix) => mkdtempSync(join(daemon.scratch, prefix)));
      for (const project of [ours!, theirs!]) await giveTo(daemon, project);
      await boxOn(daemon, "project-one", { default: "ask" }, { workspace: { mode: "copy" } }, ours);
      await boxOn(daemon, "project-two", { default: "ask" }, { workspace: { mode: "copy" } }, ours);
      await boxOn(daemon, "project-other", { default: "ask" }, { workspace: { mode: "copy" } }, theirs);
      const running = curl("http://ask.test/x", "project-one");
      await daemon.client.answerApproval((await question("ask.test", "project-one")).id, {
        answer: "allow",
        scope: "project",
      });
      expect((await running).stdout).toContain("the internet");
      expect((await curl("http://ask.test/x", "project-two")).stdout).toContain("the internet");
      const other = curl("http://ask.test/x", "project-other");
      await daemon.client.answerApproval((await question("ask.test", "project-other")).id, {
        answer: "deny",
      });
      expect((await other).stdout).not.toContain("the internet");
    });
  },
  {
    prepare: ({ daemon }) =>
      boxOn(daemon, box, { default: "ask", rules: [{ host: "denied.test", mode: "deny" }] }),
  },
);
