/** A container engine that ends, crashes or is restarted under running boxes: what is said about them stays true. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { type EngineProxy, startEngineProxy } from "../support/engine-proxy.ts";
import { engineUnavailable } from "../support/engines.ts";
import { isAlive } from "../support/host-facts.ts";
import { type OwnEngine, startOwnDocker } from "../support/own-engine.ts";
import { describeUnless } from "../support/skipping.ts";

const why = engineUnavailable("docker");

for (const keepsBoxes of [false, true]) {
  const how = keepsBoxes ? "keeps its containers (live-restore)" : "ends its containers with itself";
  describeUnless(why)(`an engine that ${how}`, () => {
    let engine: OwnEngine;
    let proxy: EngineProxy;
    let daemon: TestDaemon;

    beforeAll(async () => {
      engine = await startOwnDocker(keepsBoxes ? "restart-keeps" : "restart-ends", {
        config: { "live-restore": keepsBoxes },
      });
      proxy = await startEngineProxy(engine.socket);
      daemon = await startDaemon({ env: { AGENTBOX_ENGINE: `unix://${proxy.socket}` } });
      await daemon.client.createBox({ name: "steady", flags: { runtime: { name: "docker" } } });
    });
    afterAll(async () => {
      await daemon[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
    });

    const phaseOf = async () => (await daemon.client.getBox("steady")).box.state.phase;
    const pidOf = async () => (await daemon.client.getBox("steady")).pid ?? -1;
    const echo = async () => (await daemon.cli(["exec", "steady", "--", "echo", "here"])).stdout;
    const streams = () => proxy.timesAsked(/\/events/);
    /** As it should be after every restart: one stream of events, and a box that is what its record says. */
    const expectEndNoticed = async () => {
      const pid = await pidOf();
      expect(isAlive(pid)).toBe(true);
      process.kill(pid, "SIGKILL");
      await waitFor("the end is noticed", async () => (await phaseOf()) === "stopped");
      expect((await daemon.client.getBox("steady")).box.state).toMatchObject({
        reason: "died",
        exitCode: 137,
      });
      await daemon.client.startBox("steady");
      expect(await echo()).toBe("here\n");
    };

    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      it(`${signal}: no box is called running that is not, and its next end is noticed`, async () => {
        expect(await echo()).toBe("here\n");
        const pid = await pidOf();
        const before = streams();
        await engine.stop(signal);
        if (keepsBoxes) {
          expect(isAlive(pid)).toBe(true);
          // The way to the box is its own, and not the engine's.
          expect(await echo()).toBe("here\n");
        }
        await engine.start();
        if (keepsBoxes) {
          await waitFor("the events are listened to again", () => streams() > before);
          expect(await phaseOf()).toBe("running");
          expect(await pidOf()).toBe(pid);
          expect(await echo()).toBe("here\n");
        } else {
          await waitFor("its end is noticed", async () => (await phaseOf()) === "stopped");
          expect(isAlive(pid)).toBe(false);
          const { state } = (await daemon.client.getBox("steady")).box;
          expect(state).toMatchObject({ phase: "stopped", reason: "died" });
          await daemon.client.startBox("steady");
          expect(await echo()).toBe("here\n");
          await waitFor("the events are listened to again", () => streams() > before);
        }
        await expectEndNoticed();
      }, 120_000);
    }

    it("an end that the engine had no time to tell about is noticed when it is back", async () => {
      const pid = await pidOf();
      await proxy.goAway();
      try {
        process.kill(pid, "SIGKILL");
        await waitFor(
          "the box is no longer reached",
          async () => !(await daemon.client.getBox("steady")).isConnected,
        );
      } finally {
        await proxy.comeBack();
      }
      await waitFor("the end is noticed", async () => (await phaseOf()) === "stopped");
      expect((await daemon.client.getBox("steady")).box.state).toMatchObject({ exitCode: 137 });
      await daemon.client.startBox("steady");
      expect(await echo()).toBe("here\n");
    });
  });
}
