import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { waitFor } from "../src/base/wait-for.ts";
import { ChangePolicyBody } from "../src/contract/api/schemas/network.ts";
import type { Core } from "../src/core/context.ts";
import { applyPolicy } from "../src/core/network/apply-policy.ts";
import { changePolicy } from "../src/core/network/change-policy.ts";
import { pauseBox, resumeBox } from "../src/core/box/pause-box.ts";
import { reconcile } from "../src/core/box/reconcile.ts";
import { createOn, openTestCore, openTestHost, type TestHost } from "./support/core.ts";

let host: TestHost;
let core: Core & AsyncDisposable;
beforeEach(async () => {
  host = await openTestHost();
  core = await openTestCore(host);
  await reconcile(core);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const allow = (...hosts: string[]) => ChangePolicyBody.parse({ flags: { network: { allow: hosts } } });

it("is changed on a paused box at once, and the box hears of its ports when it goes on", async () => {
  await createOn(core, { name: "a-box", start: true });
  const setPorts = vi.spyOn(core.live.get("a-box")!.link, "setPorts");
  await changePolicy(core, "a-box", allow("example.org:5432"));
  expect(setPorts).toHaveBeenLastCalledWith([80, 443, 5432]);
  setPorts.mockClear();

  await pauseBox(core, "a-box");
  await changePolicy(core, "a-box", allow("example.org:5433"));
  expect(setPorts).not.toHaveBeenCalled();
  await resumeBox(core, "a-box");
  await waitFor("the ports", () => setPorts.mock.calls.length > 0);
  expect(setPorts).toHaveBeenLastCalledWith([80, 443, 5433]);
});

it("is the one of the record, also for who still has an older record in hand", async () => {
  const { box: old } = await createOn(core, {
    name: "a-box",
    start: true,
    flags: { network: { allow: ["wide.example.org"] } },
  });
  const setPolicy = vi.spyOn(core.ports.gate, "setPolicy");
  const hosts = () => setPolicy.mock.lastCall?.[1].rules.map(({ host: { name } }) => name);
  await applyPolicy(core, old);
  expect(hosts()).toEqual(["wide.example.org"]);
  await changePolicy(core, "a-box", allow("narrow.example.org"));
  await applyPolicy(core, old);
  expect(hosts()).toEqual(["narrow.example.org"]);
});

it("does not keep a box that is starting waiting for the answer it has got", async () => {
  const { box } = await createOn(core, { name: "a-box", start: false });
  await host.store.commit({
    update: { ...box, state: { phase: "starting", sinceMs: 0 } },
    events: [],
  });
  const request = { box, host: "example.org", port: 443 };
  let release = (): void => undefined;
  const starting = core.locked("a-box", () => new Promise<void>((resolve) => (release = resolve)));
  const asked = core.approvals.ask(request, new AbortController().signal);
  const answered = core.approvals.answer(core.approvals.list()[0]!.id, { answer: "allow", scope: "box" });
  expect(await asked).toBe(true);
  release();
  await starting;
  await answered;
  expect((await core.getBox("a-box")).network?.rules.map(({ id }) => id)).toEqual([
    "approval:example.org:443",
  ]);
});

it("says why the workspace is empty where a home directory was meant, and only there", async () => {
  const made = await createOn(core, { name: "at-home", projectDir: host.dir, start: false });
  expect(made.warnings).toEqual([expect.stringContaining("The workspace is empty")]);
  const chosen = await createOn(core, {
    name: "by-choice",
    projectDir: host.dir,
    start: false,
    flags: { workspace: { mode: "empty" } },
  });
  expect(chosen.warnings).toEqual([]);
});

it("refuses an invalid name before it reads anything else", async () => {
  for (const name of ["Bad Name", ""]) {
    await expect(createOn(core, { name, start: false })).rejects.toMatchObject({ code: "box.name_invalid" });
  }
});
