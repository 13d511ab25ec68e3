/** Threat 2 in containers: the same policy holds in a box of an engine, from the beginning and after each restart. */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { engineUnavailable, gvisorUnavailable, startDocker } from "../support/engines.ts";
import { onNetwork } from "../support/network-ground.ts";
import { startOwnDocker } from "../support/own-engine.ts";
import { expectSamePolicy, suiteBox } from "./egress-suite.ts";

const missing = engineUnavailable("docker");
const env = missing === undefined ? { AGENTBOX_ENGINE: `unix://${(await startDocker()).socket}` } : {};

for (const { runtime, why } of [
  { runtime: "docker", why: missing },
  { runtime: "gvisor", why: gvisorUnavailable() },
]) {
  const box = `on-${runtime}`;
  onNetwork(
    `egress on ${runtime}`,
    (ground) => {
      const isBack = () =>
        waitFor("the box is back", async () => (await ground.daemon.client.getBox(box)).isConnected, 30_000);

      it("holds from the beginning", (ctx) => {
        if (why !== undefined) ctx.skip(why);
        return expectSamePolicy(ground, box);
      });

      it("holds after kill -9 of the daemon", async (ctx) => {
        if (why !== undefined) ctx.skip(why);
        await ground.daemon.kill();
        await ground.daemon.start();
        await isBack();
        await expectSamePolicy(ground, box);
      });

      it("holds after pause and resume, and after the box was restarted", async (ctx) => {
        if (why !== undefined) ctx.skip(why);
        for (const verb of ["pause", "resume", "restart"])
          expect((await ground.daemon.cli([verb, box], { timeoutMs: 60_000 })).code, verb).toBe(0);
        await isBack();
        await expectSamePolicy(ground, box);
      });
    },
    {
      env,
      prepare: async (ground) =>
        why === undefined ? await suiteBox(ground, box, { runtime: { name: runtime } }) : undefined,
    },
  );
}

const own = missing === undefined ? await startOwnDocker("policy") : undefined;

onNetwork(
  "egress of a box whose engine is restarted",
  (ground) => {
    it("holds before, and after the box was started again on the engine that is back", async (ctx) => {
      if (own === undefined) {
        ctx.skip(missing);
        return;
      }
      const { client } = ground.daemon;
      const phaseOf = async () => (await client.getBox("restarted")).box.state.phase;
      await expectSamePolicy(ground, "restarted");
      await own.stop();
      await own.start();
      await waitFor("its end is noticed", async () => (await phaseOf()) === "stopped", 30_000);
      const started = await ground.daemon.cli(["start", "restarted"], { timeoutMs: 60_000 });
      expect(started.code, started.stderr).toBe(0);
      await expectSamePolicy(ground, "restarted");
    }, 180_000);
  },
  {
    env: own === undefined ? {} : { AGENTBOX_ENGINE: `unix://${own.socket}` },
    prepare: async (ground) =>
      own === undefined ? undefined : await suiteBox(ground, "restarted", { runtime: { name: "docker" } }),
  },
);
