/**
 * Threat 12: the real secret is handed over, or a request goes out without it, because the connection could not be read. The person who
 * cannot be read is refused: no name, another protocol, a pinned certificate. The box has a placeholder from the start.
 */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { searchBoxFiles, searchDisk, searchProcesses, searchWords } from "../support/canary-search.ts";
import { addresses } from "../support/network.ts";
import { denialsDuring, script, shell } from "../support/network-ground.ts";
import {
  boxOf,
  grantedBox,
  makeCanary,
  mirrorEntry,
  mustCli,
  onVault,
  requestsTo,
  setSecret,
} from "../support/vault-ground.ts";

const box = "unreadable";
/** A rule that would let connections pass unread stands beside the binding, and does not win. */
const manifest = `[network]\nallow = ["mirror.test", "other.test"]\n${mirrorEntry}`;

/** Speaks to a host in a way that cannot be read; says what came back. */
const speak = (host: string, how: "no name" | "not http" | "not tls"): string => `
  const net = require("node:net"), tls = require("node:tls");
  let said = ""; const end = () => { console.log(JSON.stringify(said)); process.exit(0); };
  const bytes = ${how === "no name" ? `"GET /echo HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n"` : '"SSH-2.0-own\\r\\n\\r\\n"'};
  const socket = net.connect(443, "${host}", () => {
    const way = ${how === "not tls" ? "socket" : `tls.connect({ socket, rejectUnauthorized: false, ${how === "no name" ? "" : `servername: "${host}"`} })`};
    way.on("data", (chunk) => (said += chunk.toString("latin1"))).on("close", end).on("error", end);
    way.write(bytes);
  }).on("error", end);
  setTimeout(end, 5000);`;

onVault(
  "a connection that cannot be read",
  (ground) => {
    it("would be let through to a host without a secret, as the control", async () => {
      const { daemon } = ground;
      expect(await script<string>(daemon, box, speak("other.test", "no name"))).toContain("the internet");
      // And where it can be read, the secret is used although a rule says that the host is not to be read.
      const { stdout } = await shell(daemon, box, "curl -sS https://mirror.test/echo");
      expect(stdout).toMatch(/\*{20,}[\s\S]*the end/);
    });

    for (const how of ["no name", "not http", "not tls"] as const)
      it(`gets nothing and reaches nobody: ${how}`, async () => {
        const { daemon, canary } = ground;
        const denials = await denialsDuring(daemon, box, async () => {
          const said = await script<string>(daemon, box, speak("mirror.test", how));
          expect(said).not.toContain(canary);
          expect(said).not.toContain("the end");
        });
        expect(denials).toEqual([expect.objectContaining({ host: "mirror.test", port: 443 })]);
        expect(await requestsTo(ground, "mirror.test")).toEqual([]);
      });

    it("fails where a program trusts only the server's own certificate", async () => {
      const { daemon, network } = ground;
      copyFileSync(network.authority, join(daemon.scratch, "pinned.pem"));
      await mustCli(daemon, ["cp", join(daemon.scratch, "pinned.pem"), `${box}:/tmp/pinned.pem`]);
      const curl = "curl -sS --capath /none --cacert /tmp/pinned.pem";
      // The control: to a host that is not read, the pin is right.
      expect((await shell(daemon, box, `${curl} https://other.test/x`)).stdout).toContain("the internet");
      const pinned = await shell(daemon, box, `${curl} https://mirror.test/echo`);
      expect(pinned).toMatchObject({ code: 60, stdout: "" });
      expect(await requestsTo(ground, "mirror.test")).toEqual([]);
    });

    it("does not go by the server's address either", async () => {
      const { daemon, canary } = ground;
      for (const args of [
        `--connect-to mirror.test:443:other.test:443 https://mirror.test/echo`,
        `--connect-to other.test:443:mirror.test:443 https://other.test/x`,
        `-H 'Host: mirror.test' https://other.test/x`,
        `-k --noproxy '*' https://${addresses.web}/echo`,
      ]) {
        await ground.network.forget();
        const { stdout, stderr } = await shell(daemon, box, `curl -sS -m 5 ${args}`);
        expect(stdout + stderr).not.toContain(canary);
        expect(JSON.stringify(await ground.network.arrivals()), args).not.toContain(canary);
      }
    });

    it("leaves the value nowhere, and the box has a placeholder in its place", async () => {
      const { daemon, canary } = ground;
      const { stdout } = await shell(daemon, box, "env; cat /proc/1/environ | tr '\\0' '\\n'");
      const [, placeholder = expect.fail(stdout)] =
        /^MIRROR_TOKEN=(agentbox[0-9a-f]{32})$/m.exec(stdout) ?? [];
      // The control: the same search finds what does stand in the box.
      expect(searchProcesses(daemon.home, placeholder).found).not.toEqual([]);
      for (const search of [
        searchProcesses(daemon.home, canary),
        searchDisk(daemon.home, canary),
        searchBoxFiles(daemon.home, canary),
        await searchWords(daemon, box, canary),
      ])
        expect(search.found).toEqual([]);
    });

    it("does not start a box with the value, when nobody agreed that it holds it", async () => {
      const { daemon } = ground;
      const value = makeCanary();
      await setSecret(daemon, "kept", value);
      await expect(boxOf(daemon, "holder", '[secrets.kept]\nhow = "env"\nenv = "KEPT"\n')).rejects.toThrow(
        /secret/,
      );
      expect((await daemon.client.getBox("holder")).box.state.phase).not.toBe("running");
      expect(searchProcesses(daemon.home, value).found).toEqual([]);
      expect(searchDisk(daemon.home, value).found).toEqual([]);
    });

    it("has no daemon at all when the gate cannot read: its authority is broken", async () => {
      const { daemon } = ground;
      const key = join(daemon.home, "ca/ca.key");
      const right = readFileSync(key);
      await daemon.kill();
      writeFileSync(key, "nonsense");
      await ground.network.forget();
      await expect(daemon.start()).rejects.toThrow(/gate\.start_failed/);
      expect(await ground.network.arrivals()).toEqual([]);
      // The control: with its key it starts, and the same box reads on.
      writeFileSync(key, right);
      await daemon.start();
      await waitFor("the box is back", async () => (await daemon.client.getBox(box)).isConnected);
      const { stdout } = await shell(daemon, box, "curl -sS https://mirror.test/echo");
      expect(stdout).toMatch(/\*{20,}[\s\S]*the end/);
    });
  },
  { prepare: ({ daemon }) => grantedBox(daemon, box, manifest) },
);
