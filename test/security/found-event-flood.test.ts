/**
 * Found by attack: a box that is denied in a loop, or asks and gives up in a loop, wrote megabytes a second into the
 * event log, which only grows. Each box now has so many events a minute; the records of the audit are bounded anyway.
 */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { EventType } from "../../src/contract/events.ts";
import { emptyBox, nodeInBox, onEachDaemon } from "./attack.ts";

/** Asks for another host each time; with `giveUp`, goes before there is an answer. */
const flood = (count: number, giveUp: boolean): string => `
  const http = require("node:http"); let n = 0, open = 0;
  const next = () => { if (n >= ${count}) { if (open === 0) { console.log(n); process.exit(0); } return; }
    const host = "n" + n++ + ".example.org"; open += 1; let isOver = false;
    const over = () => { if (isOver) return; isOver = true; open -= 1; setImmediate(next); };
    const request = http.get({ host: "127.0.0.1", port: 3128, agent: false, path: "http://" + host + "/?token=secret", headers: { host } }, (answer) => answer.resume().on("close", over));
    request.on("error", over).on("close", over); if (${giveUp}) setTimeout(() => request.destroy(), 20); };
  for (let i = 0; i < 8; i += 1) next();`;

onEachDaemon("flooding the event log", (ground) => {
  const countOf = async (type: EventType, box: string): Promise<number> =>
    (await ground.daemon.client.listEvents({ type, box, limit: 1_000 })).events.length;

  it("writes a bounded number of denials", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "denied");
    expect(await nodeInBox(daemon, box, flood(3, false))).toBe(3);
    await waitFor("each of a few denials has its event", async () =>
      (await countOf("egress.denied", box)) === 3 ? true : undefined,
    );
    expect(await nodeInBox(daemon, box, flood(600, false))).toBe(600);
    await waitFor("all are on record", async () =>
      (await daemon.client.listEgress({ box, limit: 1_000 })).length >= 603 ? true : undefined,
    );
    expect(await countOf("egress.denied", box)).toBeLessThanOrEqual(121);
  });

  it("writes a bounded number of questions, and not what follows a question mark", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "asking", { network: { default: "ask" } });
    expect(await nodeInBox(daemon, box, flood(300, true))).toBe(300);
    const asked = await countOf("approval.asked", box);
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(61);
    const { events } = await daemon.client.listEvents({ box, limit: 1_000 });
    expect(JSON.stringify(events)).not.toContain("token=secret");
  });
});
