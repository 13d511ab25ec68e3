/**
 * Threat 44: an audit that leaks what it saw, or misses what it refused. Every decision is one record with its reason, and
 * no secret that passed by is in a record, an event or a log.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { boxOn, onNetwork, recordsOf, run, shell, withoutProxy } from "../support/network-ground.ts";
import { tryOnce } from "./ways-in.ts";

const box = "audited";
const canary = "c4nary-8d1f-5ecret";

/** Every file of the daemon's home outside the boxes' own files: store, logs, records, sockets' neighbours. */
function* filesBelow(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && !["home", "workspace", "tools"].includes(entry.name)) yield* filesBelow(path);
    else if (entry.isFile() && statSync(path).size < 64 * 1024 * 1024) yield path;
  }
}

onNetwork(
  "the audit",
  (ground) => {
    it("keeps no secret of a request", async () => {
      const { daemon, network } = ground;
      const curls = [
        `http://user:${canary}@api.test/x?token=${canary}`,
        `https://user:${canary}@other.test/x?token=${canary}`,
        `http://user:${canary}@denied.test/x?token=${canary}`,
        `https://user:${canary}@denied.test/x?token=${canary}`,
        `-H 'Authorization: Bearer ${canary}' -H 'Cookie: a=${canary}' -d ${canary} https://other.test/x`,
        `-X POST -d ${canary} 'https://other.test/closed?${canary}'`,
        `--proxy-user user:${canary} http://denied.test/x`,
      ];
      for (const prefix of ["", `${withoutProxy.join(" ")} `])
        for (const curl of curls) await shell(daemon, box, `${prefix}curl -sS -m 10 ${curl}`);
      const head = "Connection: close\r\n\r\n";
      for (const bytes of [
        `GET http://user:${canary}@api.test/x HTTP/1.1\r\nHost: api.test\r\n${head}`,
        `GET http://api.test/x?${canary} HTTP/1.1\r\nHost: denied.test\r\n${head}`,
        `GET http://user:${canary}@[::1/x HTTP/1.1\r\nHost: ${canary}:${canary}@api.test\r\n${head}`,
        `GET /${canary}\0 HTTP/1.1\r\nHost: api.test\r\n${head}`,
        `CONNECT user:${canary}@api.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n`,
        `GET ftp://user:${canary}@api.test/x HTTP/1.1\r\nHost: api.test\r\n${head}`,
        `GET http://api.test/x#${canary} HTTP/1.1\r\nHost: api.test\r\n${head}`,
        `GET http://api.test/x;k=1?a=${canary} HTTP/1.1\r\nHost: api.test\r\nX:\0${canary}\r\n${head}`,
      ])
        await tryOnce(daemon, box, { way: "absolute", host: "api.test", port: 80, bytes, waitMs: 500 });
      // The control: the secrets did pass, to where they belong.
      expect(JSON.stringify(await network.arrivals())).toContain(canary);
      const records = JSON.stringify(await recordsOf(daemon, box));
      expect(records).toContain("denied.test");
      expect(records).not.toContain(canary);
      const { events } = await daemon.client.listEvents({ limit: 1000 });
      expect(events.some(({ type }) => type === "egress.denied")).toBe(true);
      // A person's commands are on record with their words; here the words were the test's own.
      const network_ = events.filter(({ type }) => !type.startsWith("exec."));
      expect(JSON.stringify(network_)).not.toContain(canary);
      expect(daemon.log()).not.toContain(canary);
      const net = await daemon.cli(["net", box]);
      expect(net.stdout + net.stderr).not.toContain(canary);
    });

    it("leaves no secret in a file of the host", async () => {
      const { daemon, network } = ground;
      // The canary comes from a file, so that no command line on record holds it.
      const fresh = "0ther-c4nary-77";
      await run(daemon, box, [
        "sh",
        "-c",
        `printf '%s%s' 0ther-c4nary -77 > /tmp/k; for url in "http://user:$(cat /tmp/k)@api.test/x?t=$(cat /tmp/k)" "https://denied.test/?t=$(cat /tmp/k)" "https://other.test/?t=$(cat /tmp/k)"; do curl -sS -m 5 -H "Authorization: Bearer $(cat /tmp/k)" "$url"; done`,
      ]);
      expect(JSON.stringify(await network.arrivals())).toContain(fresh);
      await recordsOf(daemon, box);
      const holding = [...filesBelow(daemon.home)].filter((file) => readFileSync(file).includes(fresh));
      expect(holding).toEqual([]);
      expect([...filesBelow(daemon.home)].length).toBeGreaterThan(3);
    });

    it("has one record for each decision, with what a person needs to know", async () => {
      const { daemon } = ground;
      const before = (await recordsOf(daemon, box)).length;
      await shell(daemon, box, "for n in 1 2 3 4 5; do curl -sS -m 5 http://denied.test/$n; done");
      await shell(daemon, box, "for n in 1 2 3; do curl -sSf -m 5 https://other.test/$n; done");
      const records = (await recordsOf(daemon, box)).slice(before);
      const denied = records.filter(({ verdict }) => verdict === "deny");
      expect(denied).toHaveLength(5);
      for (const record of denied)
        expect(record).toMatchObject({
          host: "denied.test",
          port: 80,
          reason: "no_rule",
          box,
          via: "proxy",
        });
      // boxd looks it up while the program may already be gone, so not every record has it.
      expect(denied.map(({ program }) => program)).toContain("curl");
      const allowed = records.filter(({ verdict }) => verdict === "allow");
      expect(allowed.map(({ method, path, status }) => ({ method, path, status }))).toEqual(
        [1, 2, 3].map((n) => ({ method: "GET", path: `/${n}`, status: 200 })),
      );
      for (const record of allowed) {
        expect(record.rule).toBeTruthy();
        expect(record.bytesIn).toBeGreaterThan(0);
      }
      const events = await waitFor("the denials are events", async () => {
        const found = (
          await daemon.client.listEvents({ type: "egress.denied", box, order: "newest", limit: 50 })
        ).events;
        return found.length > 0 ? found : undefined;
      });
      expect(events[0]?.data).toMatchObject({ host: "denied.test", reason: "no_rule" });
    });

    it("counts bytes of a tunnel, and shows hosts, requests and denials", async () => {
      const { daemon } = ground;
      await shell(daemon, box, `${withoutProxy.join(" ")} curl -sSf -m 10 https://api.test/tunnel`);
      const [last] = (await recordsOf(daemon, box, "api.test")).slice(-1);
      expect(last).toMatchObject({ verdict: "allow", port: 443, via: "tcp" });
      expect(last?.bytesOut).toBeGreaterThan(300);
      expect(last?.bytesIn).toBeGreaterThan(500);
      const net = await daemon.client.getNet(box);
      expect(net.hosts.map(({ host }) => host)).toEqual(
        expect.arrayContaining(["api.test", "denied.test", "other.test"]),
      );
      expect(net.denials).toBeGreaterThan(0);
      expect(net.bytesIn).toBeGreaterThan(0);
    });
  },
  {
    prepare: ({ daemon }) =>
      boxOn(daemon, box, { allow: ["api.test"], rules: [{ host: "other.test", inspect: true }] }),
  },
);
