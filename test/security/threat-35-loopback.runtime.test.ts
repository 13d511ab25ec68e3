/**
 * Threat 35: a proxy on loopback that every user of the machine can use. The gate's proxy is on the loopback of one
 * box: it is not on the host's, not in another box, and its socket is closed to all other users.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { asUserArgv, ordinaryUser } from "../support/host-facts.ts";
import { boxOn, expectDenied, onNetwork, run, shell } from "../support/network-ground.ts";
import { runProgram } from "../support/program.ts";

/** A stranger here: no daemon, no engine and no box is this user's. */
const strangerUser = { uid: 54_321, gid: 54_321 };

const dial = (socket: string): string =>
  `require("node:net").connect(${JSON.stringify(socket)}).on("connect", () => { console.log("connected"); process.exit(); }).on("error", (error) => console.log(error.code))`;

onNetwork(
  "the proxy",
  (ground) => {
    it("is inside the box and nowhere on the host", async () => {
      const { daemon, network } = ground;
      expect((await shell(daemon, "rich", "curl -sSf -x http://127.0.0.1:3128 http://api.test/x")).code).toBe(
        0,
      );
      for (const who of [[], asUserArgv(ordinaryUser)])
        for (const address of ["127.0.0.1", "[::1]", "203.0.113.2"]) {
          const tried = await network.onHost([
            ...who,
            "curl",
            "-sS",
            "-m",
            "3",
            "-x",
            `http://${address}:3128`,
            "http://api.test/x",
          ]);
          expect(tried.code, address).toBe(7);
        }
    });

    it("does not serve another box", async () => {
      const { daemon, network } = ground;
      await network.forget();
      await expectDenied(daemon, "poor", { host: "api.test", reason: "no_rule" }, async () =>
        expect((await run(daemon, "poor", ["curl", "-sSf", "-m", "5", "http://api.test/x"])).code).not.toBe(
          0,
        ),
      );
      for (const socket of [
        join(daemon.home, "boxes/rich/link/link.sock"),
        "/run/agentbox/../rich/link.sock",
      ]) {
        const { stdout } = await run(daemon, "poor", ["node", "-e", dial(socket)]);
        expect(stdout.trim()).toBe("ENOENT");
      }
      expect(await network.arrivals()).toEqual([]);
    });

    it("has sockets that no other user can open", async () => {
      const { daemon } = ground;
      const directory = join(daemon.home, "boxes/rich/link");
      const socket = join(directory, "link.sock");
      expect(readdirSync(directory)).toContain("link.sock");
      const dialAs = async (user: { uid: number; gid: number }): Promise<string> =>
        (await runProgram([...asUserArgv(user), process.execPath, "-e", dial(socket)])).stdout.trim();
      expect(await dialAs(strangerUser)).toBe("EACCES");
      const owners = await Promise.all(
        ["rich", "poor"].map(async (box) => (await daemon.client.getBox(box)).box.owner),
      );
      // The control: it is the box's own user's.
      expect(await dialAs(owners[0]!)).toBe("connected");
      const person = statSync(daemon.home).uid;
      if (person !== 0) {
        // A person's boxes are that person's, and strangers to each other by their namespaces alone.
        expect(owners.map(({ uid }) => uid)).toEqual([person, person]);
        return;
      }
      // The box of another box's user is a stranger too: each has a uid of its own.
      expect(owners[1]!.uid).not.toBe(owners[0]!.uid);
      expect(await dialAs(ordinaryUser)).toBe("EACCES");
      expect(await dialAs(owners[1]!)).toBe("EACCES");
    });
  },
  {
    async prepare({ daemon }) {
      await boxOn(daemon, "rich", { allow: ["api.test"] });
      await boxOn(daemon, "poor", { allow: ["other.test"] });
    },
  },
);
