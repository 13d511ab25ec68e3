/**
 * Threat 29: a child agent outside of its parent's box. What an agent starts is in the same box, behind the same gate, with
 * the same models and the same budget; and boxes below another by name cannot spend more than it may.
 */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { modelHost } from "../../src/contract/model/api.ts";
import { boxOf, eventsOf, onAgents, questionsSince } from "../support/agents.ts";
import { expectDenied, shell } from "../support/network-ground.ts";

/** A child that knows nothing of its parent's settings: a clean environment, a home and a model of its own. */
const child = (model: string): string =>
  `env -i PATH=/usr/bin:/bin:$PATH HOME=/tmp/child-home OPENAI_BASE_URL=http://${modelHost}/openai/v1 OPENAI_API_KEY=sk-agentbox-placeholder ` +
  `sh -c 'mkdir -p /tmp/child-home; exec /opt/agentbox/agents/notebot/notebot --model=${model} --yes -- do-it'`;

onAgents("a child agent", { fixtures: ["notebot"] }, (ground) => {
  it("has the hosts, the models and the budget of its parent", async () => {
    const { daemon, model, play } = ground;
    play([{ text: "a note", usage: { input: 400, output: 100 } }]);
    const flags = {
      model: { allow: ["gpt-5*"] },
      budget: { box: { tokens: 5_000 } },
      workspace: { mode: "empty" },
    };
    await daemon.client.createBox({ name: "parent", flags: { agent: { name: "notebot" }, ...flags } });
    const started = await shell(daemon, "parent", child("gpt-5-mini"));
    expect(started.code, started.stdout + started.stderr).toBe(0);
    const { totals } = await daemon.client.getUsage({ box: "parent" });
    expect(totals.usage).toMatchObject({ input: 400, output: 100 });

    const arrived = model.requests.length;
    const other = await shell(daemon, "parent", child("o3"));
    expect(other.stdout).toContain("model.not_allowed");
    const [refused] = await waitFor("the refusal is recorded", async () => {
      const found = await eventsOf(daemon, "parent", "model.refused");
      return found.length > 0 && found;
    });
    expect(refused?.data).toMatchObject({ code: "model.not_allowed" });
    expect(model.requests).toHaveLength(arrived);
    await expectDenied(daemon, "parent", { host: "child.example", reason: "no_rule" }, () =>
      shell(
        daemon,
        "parent",
        "env -i PATH=$PATH sh -c '(setsid curl -sS -m 5 http://child.example/ &) ; sleep 1'",
      ),
    );

    // Children side by side, until nothing is left: the sixth finds the budget used up.
    play([{ text: "a note", usage: { input: 20, output: 900 } }]);
    await shell(daemon, "parent", `for i in 1 2 3 4 5 6; do ${child("gpt-5")} & done; wait`, 20_000);
    const { limits } = await daemon.client.getBudget("parent");
    expect(limits[0]?.tokens).toBe(5_000);
    expect(await eventsOf(daemon, "parent", "budget.exhausted")).not.toEqual([]);
    expect(questionsSince(model, arrived)).toHaveLength(5);
  });

  it("in a box below by name spends from what its parent may", async () => {
    const { daemon, play } = ground;
    play([{ text: "a note", usage: { input: 3_000, output: 500 } }]);
    const cwd = await ground.project({ "agentbox.toml": "version = 1\n[budget.tree]\ntokens = 3520\n" });
    const run = (name: string) =>
      daemon.cli(["run", "notebot", "--name", name, "--detach", "--task", "Write."], { cwd });
    // The control: a box that is not below the other has a budget of its own.
    for (const name of ["shop", "other"]) {
      expect((await run(name)).code).toBe(0);
      await waitFor(`${name} is done`, async () => (await boxOf(daemon, name)).run?.verdict === "done");
    }
    expect((await run("shop-worker")).code).toBe(0);
    const exhausted = await waitFor(
      "the child finds nothing left",
      async () => (await eventsOf(daemon, "shop-worker", "budget.exhausted"))[0],
    );
    expect(exhausted.data).toMatchObject({ scope: "tree" });
    expect((await daemon.client.getUsage({ box: "shop-worker" })).totals.usage.input).toBe(0);
  });
});
