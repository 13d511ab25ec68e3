/** The whole way, from the command to the program in the box, at engines that are not simply this host's root's. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { listPids, readCmdline } from "../../src/host/processes.ts";
import { startDaemon } from "../support/daemon.ts";
import { openSshRoute, sshUnavailable } from "../support/engine-over-ssh.ts";
import { engineUnavailable, remappedRoot, startEngine } from "../support/engines.ts";
import { itUnless } from "../support/skipping.ts";

describe("an engine behind ssh", () => {
  itUnless(engineUnavailable("docker") ?? sshUnavailable())(
    "runs boxes, finds them again after a crash, and the way to it ends with the daemon",
    async () => {
      const { socket } = await startEngine("docker");
      await using route = await openSshRoute();
      const url = route.url(socket);
      const env = { AGENTBOX_ENGINE: url, PATH: `${route.programs}:${process.env["PATH"]}` };
      await using daemon = await startDaemon({ env });
      const ran = await daemon.cli([
        "run",
        "--runtime",
        "docker",
        "--workspace",
        "empty",
        "shell",
        "--",
        "echo",
        "hello",
      ]);
      expect(ran).toMatchObject({ code: 0, stdout: "hello\n" });

      const made = await daemon.cli([
        "create",
        "shell",
        "--name",
        "far",
        "--runtime",
        "docker",
        "--workspace",
        "empty",
        "--start",
      ]);
      expect(made.code, made.stderr).toBe(0);
      const tunnels = async (): Promise<number> => {
        const argvs = await Promise.all((await listPids()).map(readCmdline));
        return argvs.filter((argv) => argv.includes("-L") && argv.some((part) => part.endsWith(`:${socket}`)))
          .length;
      };
      expect(await tunnels()).toBe(1);
      await daemon.kill();
      await waitFor("the way is closed", async () => (await tunnels()) === 0);
      await daemon.start();
      const again = await daemon.cli(["exec", "far", "--", "echo", "still"]);
      expect(again).toMatchObject({ code: 0, stdout: "still\n" });
      await daemon.client.removeBox("far", { force: true });
    },
    240_000,
  );
});

describe("an engine that maps users", () => {
  itUnless(engineUnavailable("docker-remap"))(
    "gives every box a user of its own that the engine knows inside; files belong to it, inside and out",
    async () => {
      const { socket } = await startEngine("docker-remap");
      await using daemon = await startDaemon({ env: { AGENTBOX_ENGINE: `unix://${socket}` } });
      const create = async (name: string, runtime: string) => {
        const made = await daemon.cli([
          "create",
          "shell",
          "--name",
          name,
          "--runtime",
          runtime,
          "--workspace",
          "empty",
          "--start",
        ]);
        expect(made.code, made.stderr).toBe(0);
        return daemon.client.getBox(name);
      };
      const [one, two] = [await create("one", "docker"), await create("two", "docker")];
      expect(one.box.owner.uid).toBe(remappedRoot + 20_000);
      expect(two.box.owner.uid).toBe(remappedRoot + 20_001);
      const wrote = await daemon.cli(["exec", "two", "--", "sh", "-c", "id -u; whoami; echo mine > ~/mine"]);
      expect(wrote).toMatchObject({ code: 0, stdout: "20001\nagent\n" });
      expect(statSync(join(two.paths.home, "mine")).uid).toBe(two.box.owner.uid);
      const users = two.box.isolation.guarantees.find(({ name }) => name === "user namespace");
      expect(users).toMatchObject({ isEnforced: true });

      // Files keep their owner: what the engine does not know inside cannot move there, and stays as it was.
      const plain = await create("plain", "bubblewrap");
      const refused = await daemon.cli(["move", "plain", "--runtime", "docker", "--yes"]);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toMatch(/does not know inside/);
      expect((await daemon.client.getBox("plain")).box).toEqual(plain.box);
      expect((await daemon.cli(["move", "two", "--runtime", "bubblewrap", "--yes"])).code).toBe(0);
      expect((await daemon.cli(["exec", "two", "--", "sh", "-c", "cat ~/mine"])).stdout).toBe("mine\n");
      for (const name of ["one", "two", "plain"]) await daemon.client.removeBox(name, { force: true });
    },
    240_000,
  );
});
