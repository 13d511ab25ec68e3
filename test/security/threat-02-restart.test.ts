/**
 * Threat 2: rules that are lost when something restarts. After each kind of restart the same policy is in force, and in
 * between a box has no network rather than an open one.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { type NetworkGround, onNetwork, run, script } from "../support/network-ground.ts";
import { expectSamePolicy, suiteBox } from "./egress-suite.ts";

const box = "restarts";

const isBack = ({ daemon }: NetworkGround): Promise<unknown> =>
  waitFor("the box is back", async () => (await daemon.client.getBox(box)).isConnected);

onNetwork(
  "restarts",
  (ground) => {
    it("holds from the beginning", () => expectSamePolicy(ground, box));

    it("holds after kill -9 of the daemon, and while it is away there is no network", async () => {
      const { daemon, network } = ground;
      // A program that tries all the time, so that it also does while the daemon is away.
      const attempts = `const http = require("node:http"), fs = require("node:fs");
        const once = (host, done) => http.get({ host, path: "/away", timeout: 1000 }, (answer) => { answer.resume(); done(host + " " + answer.statusCode); })
          .on("timeout", function () { this.destroy(); }).on("error", (error) => done(host + " " + error.code));
        const turn = () => once("api.test", (a) => once("denied.test", (b) => { fs.appendFileSync("/workspace/attempts", a + " " + b + "\\n"); setTimeout(turn, 50); }));
        turn();`;
      await run(daemon, box, ["sh", "-c", `node -e '${attempts}' >/dev/null 2>&1 & sleep 0.1`]);
      // Read on the host, because the box cannot be asked while the daemon is away.
      const attemptsFile = join(daemon.home, "boxes", box, "data/workspace/attempts");
      const seen = (): readonly string[] => {
        const text = existsSync(attemptsFile) ? readFileSync(attemptsFile, "utf8") : "";
        return text.split("\n").slice(0, -1);
      };
      await waitFor("it reaches what is allowed", () => seen().some((line) => line.includes("api.test 200")));
      await daemon.kill();
      await network.forget();
      const before = seen().length;
      const away = await waitFor("it has tried in vain", () => {
        const lines = seen().slice(before + 1);
        return lines.length >= 3 ? lines : undefined;
      });
      expect(away.filter((line) => /\b200\b/.test(line))).toEqual([]);
      expect(await network.arrivals()).toEqual([]);
      await daemon.start();
      await isBack(ground);
      await waitFor("it reaches it again", () => seen().at(-1)?.includes("api.test 200"));
      await run(daemon, box, ["pkill", "-f", "attempts"]);
      const done = (await network.arrivals()).filter((one) => one.kind === "http" && one.host !== "api.test");
      expect(done).toEqual([]);
      await expectSamePolicy(ground, box);
    });

    it("holds after the daemon was stopped and started", async () => {
      await ground.daemon.stop();
      await ground.daemon.start();
      await isBack(ground);
      await expectSamePolicy(ground, box);
    });

    it("holds after pause and resume, and while it is paused nothing leaves", async () => {
      const { daemon, network } = ground;
      expect((await daemon.cli(["pause", box])).code).toBe(0);
      const packets = network.packets();
      await waitFor(
        "it is paused",
        async () => (await daemon.client.getBox(box)).box.state.phase === "paused",
      );
      expect(network.packets()).toBe(packets);
      expect((await daemon.cli(["resume", box])).code).toBe(0);
      await isBack(ground);
      await expectSamePolicy(ground, box);
    });

    it("holds after the box was restarted", async () => {
      expect((await ground.daemon.cli(["restart", box])).code).toBe(0);
      await isBack(ground);
      await expectSamePolicy(ground, box);
    });

    it("holds after a kill -9 while the box was paused", async () => {
      const { daemon } = ground;
      expect((await daemon.cli(["pause", box])).code).toBe(0);
      await daemon.kill();
      await daemon.start();
      expect((await daemon.cli(["resume", box])).code).toBe(0);
      await isBack(ground);
      await expectSamePolicy(ground, box);
    });

    it("does not follow a box to the next one of its name", async () => {
      const { daemon, network } = ground;
      await suiteBox(ground, "same-name");
      expect((await run(daemon, "same-name", ["curl", "-sSf", "http://api.test/x"])).code).toBe(0);
      expect((await daemon.cli(["rm", "--force", "same-name"])).code).toBe(0);
      await daemon.client.createBox({ name: "same-name", flags: { workspace: { mode: "empty" } } });
      await network.forget();
      expect(
        (await run(daemon, "same-name", ["curl", "-sSf", "-m", "5", "http://api.test/x"])).code,
      ).not.toBe(0);
      await script(daemon, "same-name", "console.log(1)");
      expect(await network.arrivals()).toEqual([]);
    });
  },
  { prepare: (ground) => suiteBox(ground, box) },
);
