/**
 * Threat 43 at the gate: a box that tries to wear it out. Whatever is sent, connections end at a limit that is defined,
 * each is on record, other boxes are served meanwhile, and the gate is alive afterwards.
 */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { boxOn, onNetwork, recordsOf, script, shell } from "../support/network-ground.ts";
import { hasReached, tryInBox } from "./ways-in.ts";

const box = "hostile";

onNetwork(
  "wearing out the gate",
  (ground) => {
    const expectAlive = async (): Promise<void> => {
      const { daemon } = ground;
      for (const [who, url] of [
        ["neighbour", "http://api.test/x"],
        ["neighbour", "https://other.test/x"],
        [box, "http://api.test/x"],
      ] as const) {
        const alive = await shell(
          daemon,
          who,
          `curl -sSf -m 10 --retry 5 --retry-delay 1 --retry-all-errors ${url}`,
        );
        expect(alive.code, `${who} ${url}: ${alive.stderr}`).toBe(0);
      }
    };

    it("survives what is no CONNECT, no request, no TLS and no hello", async () => {
      const { daemon, network } = ground;
      const pid = daemon.pid;
      const noise = `const net = require("node:net"), crypto = require("node:crypto");
        const frame = (value) => { const text = Buffer.from(JSON.stringify(value)), head = Buffer.alloc(5); head.writeUInt32BE(text.length + 1); return Buffer.concat([head, text]); };
        const gate = (host) => frame({ role: "gate", protocol: 1, via: "tcp", host, port: 443 });
        const proxy = frame({ role: "gate", protocol: 1, via: "proxy" });
        const hello = Buffer.from("16030100a5010000a10303", "hex");
        const texts = ["CONNECT\\r\\n\\r\\n", "CONNECT :443 HTTP/1.1\\r\\n\\r\\n", "CONNECT api.test HTTP/1.1\\r\\n\\r\\n", "CONNECT api.test:99999 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n",
          "CONNECT api.test:443 HTTP/1.1\\r\\nHost: " + "a".repeat(20000) + "\\r\\n\\r\\n", "GET  HTTP/1.1\\r\\n\\r\\n", "\\r\\n\\r\\n\\r\\n", "GET http:// HTTP/1.1\\r\\n\\r\\n", "GET http://[::::]/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n",
          "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n", "GET " + "/".repeat(70000) + " HTTP/1.1\\r\\n\\r\\n", "\\x05\\x01\\x00", "\\x04\\x01\\x01\\xbb\\x7f\\x00\\x00\\x01\\x00", "SSH-2.0-x\\r\\n",
          "POST http://api.test/ HTTP/1.1\\r\\nHost: api.test\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\nzz\\r\\n", "GET http://api.test/ HTTP/1.1\\r\\n" + "X: y\\r\\n".repeat(5000) + "\\r\\n"]
          .map((text) => Buffer.from(text, "latin1"));
        const tls = [hello, Buffer.concat([hello, crypto.randomBytes(200)]), Buffer.from("1603010000", "hex"), Buffer.from("160301ffff", "hex"), Buffer.from("15030100020228", "hex"),
          Buffer.concat([Buffer.from("1603014000", "hex"), crypto.randomBytes(16384)]), ...Array.from({ length: 40 }, (_, n) => Buffer.concat([hello.subarray(0, n % 11), crypto.randomBytes(n * 7)]))];
        const all = [...texts.map((text) => Buffer.concat([proxy, text])), ...tls.flatMap((record) => [Buffer.concat([gate("api.test"), record]), Buffer.concat([gate("other.test"), record])]),
          ...Array.from({ length: 60 }, (_, n) => Buffer.concat([proxy, crypto.randomBytes(n * 13)])), frame({ role: "gate" }), frame({ role: "gate", protocol: 1, via: "udp", host: "x", port: 1 }),
          frame({ role: "gate", protocol: 1, via: "tcp", host: "x".repeat(300), port: 1 }), frame({ role: "gate", protocol: 1, via: "tcp", host: "api.test", port: 0 }), frame({ role: "gate", protocol: 1, via: "tcp" }), gate("")];
        const once = (bytes) => new Promise((done) => { const socket = net.connect("/run/agentbox/link.sock"); socket.on("error", () => {}).on("close", done).on("data", () => {});
          socket.end(bytes); setTimeout(() => { socket.destroy(); }, 1500).unref(); });
        (async () => { for (let n = 0; n < all.length; n += 20) await Promise.all(all.slice(n, n + 20).map(once)); console.log(all.length); process.exit(0); })();`;
      const sent = await script<number>(daemon, box, noise);
      expect(sent).toBeGreaterThan(150);
      expect(daemon.pid).toBe(pid);
      expect((await network.arrivals()).filter(({ kind }) => kind === "http")).toEqual([]);
      const records = await recordsOf(daemon, box);
      expect(records.filter(({ verdict }) => verdict === "deny").length).toBeGreaterThan(50);
      await expectAlive();
      expect(daemon.log()).not.toMatch(/uncaught exception|unhandled rejection/);
    });

    it("ends requests that never end, and records them", async () => {
      const { daemon } = ground;
      const before = (await recordsOf(daemon, box)).length;
      // Each of these says a little and then nothing: the head, the hello, the CONNECT.
      const slow = [
        { way: "absolute", host: "api.test", port: 80, bytes: "GET http://api.test/ HTTP/1.1\r\nHo" },
        { way: "link", host: "other.test", port: 443, bytes: "\x16\x03\x01\x00\xa5\x01" },
        { way: "link", host: "other.test", port: 80, bytes: "GE" },
      ] as const;
      const outcomes = await Promise.all(
        slow.map((one) => tryInBox(daemon, box, [{ ...one, waitMs: 20_000 }])),
      );
      for (const [outcome] of outcomes) expect(outcome?.end).toBe("closed");
      const records = (await recordsOf(daemon, box)).slice(before);
      expect(
        records.filter(({ reason }) => reason === "limit" || reason === "malformed").length,
      ).toBeGreaterThanOrEqual(slow.length);
      await expectAlive();
    }, 90_000);

    it("takes so many connections and no more, and other boxes are served meanwhile", async () => {
      const { daemon } = ground;
      const before = (await recordsOf(daemon, box)).length;
      const crowd = `const net = require("node:net"); let open = 0, closed = 0; const sockets = [];
        for (let n = 0; n < 1500; n += 1) { const socket = net.connect("/run/agentbox/link.sock"); sockets.push(socket);
          socket.on("connect", () => { open += 1; const text = Buffer.from(JSON.stringify({ role: "gate", protocol: 1, via: "proxy" })), head = Buffer.alloc(5); head.writeUInt32BE(text.length + 1); socket.write(Buffer.concat([head, text])); })
            .on("error", () => {}).on("close", () => { closed += 1; }).on("data", () => {}); }
        setTimeout(() => { console.log(JSON.stringify({ open, closed })); process.exit(0); }, 4000);`;
      const crowded = script<{ open: number; closed: number }>(daemon, box, crowd);
      const neighbour = await shell(
        daemon,
        "neighbour",
        "for n in 1 2 3 4 5; do curl -sSf -m 5 http://api.test/$n || exit 1; done",
      );
      expect(neighbour.code, neighbour.stderr).toBe(0);
      const { closed } = await crowded;
      expect(closed).toBeGreaterThanOrEqual(900);
      // Most end at the link already, which notes it as a violation; what gets further ends at the gate.
      const limited = (await recordsOf(daemon, box)).slice(before).filter(({ reason }) => reason === "limit");
      const violations = (await daemon.client.listEvents({ type: "link.violated", box, limit: 50 })).events;
      expect(limited.length + violations.length).toBeGreaterThan(0);
      await expectAlive();
    });

    it("asks a bounded number of names and keeps a bounded memory", async () => {
      const { daemon } = ground;
      const rss = () =>
        Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))?.[1] ?? 0);
      const before = rss();
      const flood = `const http = require("node:http"); const agent = new http.Agent({ keepAlive: true, maxSockets: 8 }); let left = 5000, done = 0;
        const next = () => { if (left-- <= 0) return; http.get({ host: "127.0.0.1", port: 3128, agent, path: "http://n" + left + ".denied.test/" + "x".repeat(2000), headers: { host: "n" + left + ".denied.test" } }, (answer) => { answer.resume().on("end", () => { done += 1; next(); }); })
          .on("error", () => { done += 1; setTimeout(next, 5); }); };
        for (let n = 0; n < 8; n += 1) next();
        const timer = setInterval(() => { if (done >= 4990) { console.log(done); process.exit(0); } }, 50); setTimeout(() => { console.log(done); process.exit(0); }, 25000);`;
      expect(await script<number>(daemon, box, flood)).toBeGreaterThan(1000);
      expect(rss() - before).toBeLessThan(200 * 1024);
      expect((await daemon.client.getNet(box)).hosts.length).toBeLessThanOrEqual(1_001);
      await expectAlive();
    }, 90_000);

    it("has the control: the hostile box's own traffic was possible all along", async () => {
      const outcomes = await tryInBox(ground.daemon, box, [{ way: "connect", host: "api.test", port: 80 }]);
      expect(outcomes.every(hasReached)).toBe(true);
    });
  },
  {
    async prepare({ daemon }) {
      const network = { allow: ["api.test"], rules: [{ host: "other.test", inspect: true }] };
      await boxOn(daemon, box, network);
      await boxOn(daemon, "neighbour", network);
    },
  },
);
