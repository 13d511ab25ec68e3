/**
 * A box that asks faster than the gate can judge takes the daemon's time from all others. The clock stands still here,
 * so a box has its burst and not one request more, however many it sends.
 */
import { connect as connectHttp2 } from "node:http2";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../../base/wait-for.ts";
import { systemClock } from "../../../host/clock.ts";
import { type GateFixture, httpServer, openGateFixture, rule, startTls } from "../fixtures/gate.fixture.ts";

const proxied = (host: string): string => `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const viaProxy = { via: "proxy", program: "flood" } as const;
const limits = { paceBurst: 200, paceAlone: 300, pacePerSecond: 10, paceTogether: 100 };
/** Its own, and what one busy box has alone. */
const burst = limits.paceBurst + limits.paceAlone;
const handshakePrice = 10;
const perConnection = 20;
const connectionsAtATime = 4;

/** Time that passes when it is told to; waits are as long as they are. */
function stoppedClock() {
  let atMs = 0;
  const waits = new Set<{ readonly untilMs: number; readonly call: () => void }>();
  return {
    nowMs: () => systemClock.nowMs(),
    monotonicMs: () => atMs,
    after: (ms: number, call: () => void) => {
      const wait = { untilMs: atMs + ms, call };
      waits.add(wait);
      return () => void waits.delete(wait);
    },
    pass(ms: number) {
      atMs += ms;
      for (const wait of waits) if (wait.untilMs <= atMs && waits.delete(wait)) wait.call();
    },
  };
}

const ownCa = ({ dir }: GateFixture): string => readFileSync(join(dir, "ca", "ca.pem"), "utf8");

/** Many turns of the loop: what would go on has gone on. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 500; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("a box that asks without end", () => {
  it("is judged as fast as is fair, and waits unread for the rest", async () => {
    const clock = stoppedClock();
    await using fixture = await openGateFixture({ clock, limits });
    fixture.setPolicy();
    const asked = 60 * perConnection;
    // One after the other, each until it is answered and closed; those that are not read stay open.
    let left = 60;
    const knock = async (): Promise<void> => {
      if (left === 0) return;
      left -= 1;
      const socket = await fixture.open(viaProxy);
      socket
        .on("close", () => void knock().catch(() => undefined))
        .on("end", () => socket.end())
        .resume();
      socket.write(proxied("denied.test").repeat(perConnection));
    };
    for (let n = 0; n < connectionsAtATime; n += 1) await knock();
    await waitFor("the burst is judged", () => fixture.records.length >= burst, 20_000);
    await manyTurns();
    const judged = fixture.records.length;
    expect(judged).toBeLessThan(burst + connectionsAtATime * perConnection);
    // It owes what it has sent too much; then it goes on.
    for (let second = 0; second < 30; second += 1) clock.pass(1_000);
    await waitFor("it goes on", () => fixture.records.length > judged);
    left = 0;
    expect(asked).toBeGreaterThan(burst + connectionsAtATime * perConnection);
  }, 30_000);

  it("has a connection closed on which it does not wait for answers", async () => {
    await using server = await httpServer((_, response) => void response.end("fine"));
    await using fixture = await openGateFixture();
    fixture.setPolicy(rule("fine.test", server.port));
    const ask = async (count: number): Promise<number> => {
      const socket = await fixture.open(viaProxy);
      socket.on("end", () => socket.end());
      let said = "";
      socket.on("data", (chunk: Buffer) => (said += chunk.toString("latin1")));
      socket.write(proxied(`fine.test:${server.port}`).repeat(count));
      return waitFor("all answers, or the end", () => {
        const answers = said.match(/HTTP\/1\.1 200/g)?.length ?? 0;
        return answers === count || socket.closed ? answers : undefined;
      });
    };
    // The control: as many as apt asks for at once.
    expect(await ask(10)).toBe(10);
    expect(await ask(1_000)).toBeLessThan(100);
    expect(fixture.records.some(({ reason }) => reason === "limit")).toBe(true);
  });

  it("shakes hands as often as is fair", async () => {
    const clock = stoppedClock();
    await using fixture = await openGateFixture({ clock, limits });
    fixture.setPolicy(rule("read.test", 443, { methods: ["GET"] }));
    let done = 0;
    let left = burst / handshakePrice + 20;
    const shake = async (): Promise<void> => {
      if (left === 0) return;
      left -= 1;
      const socket = await fixture.open({ via: "tcp", host: "read.test", port: 443 });
      const secure = await startTls(socket, "read.test", ownCa(fixture));
      done += 1;
      secure.destroy();
      await shake();
    };
    for (let n = 0; n < connectionsAtATime; n += 1) void shake().catch(() => undefined);
    await waitFor("the burst is over", () => done >= burst / handshakePrice, 20_000);
    await manyTurns();
    expect(done).toBeLessThan(burst / handshakePrice + connectionsAtATime);
  }, 30_000);

  it("is judged as fast as is fair over HTTP/2, too", async () => {
    const clock = stoppedClock();
    await using fixture = await openGateFixture({ clock, limits });
    fixture.setPolicy(rule("read.test", 443, { methods: ["GET"] }));
    const socket = await fixture.open({ via: "tcp", host: "read.test", port: 443 });
    const secure = await startTls(socket, "read.test", ownCa(fixture), ["h2"]);
    const session = connectHttp2("https://read.test", { createConnection: () => secure });
    session.on("error", () => undefined);
    let left = burst + 200;
    const ask = (): void => {
      if (left === 0 || session.destroyed) return;
      left -= 1;
      const request = session.request({ ":method": "DELETE", ":path": "/" });
      request.on("error", () => undefined).on("close", ask);
      request.resume();
    };
    for (let n = 0; n < 50; n += 1) ask();
    await waitFor("the burst is judged", () => fixture.records.length >= burst - handshakePrice, 20_000);
    await manyTurns();
    expect(left).toBeGreaterThan(0);
    expect(fixture.records.length).toBeLessThanOrEqual(burst);
    session.destroy();
  }, 30_000);
});
