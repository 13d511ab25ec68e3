/**
 * A guest, a member or a thief of a token could hold all 1,024 connections that the dashboard's port has, and keep its
 * owner out. Control: a guest has what a page needs, and many connections. Denial: beyond that they are answered 429 and
 * closed, while the owner is answered; and what they let go of they can have again.
 */
import { once } from "node:events";
import { type IncomingMessage, type ClientRequest, request } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { ask, claimLink, type WebSession } from "../support/web-client.ts";
import { emptyBox } from "./attack.ts";

const box = "watched";
let daemon: TestDaemon;
let guest: WebSession;
let owner: WebSession;
const open: ClientRequest[] = [];

beforeAll(async () => {
  daemon = await startDaemon();
  await emptyBox(daemon, box);
  owner = await claimLink((await daemon.json<{ url: string }>(["open", "--print"])).url);
  const { url } = await daemon.client.createShare(box, { may: "look", with: { link: true } });
  guest = await claimLink(url ?? "");
});
afterAll(async () => {
  for (const one of open) one.destroy();
  await daemon[Symbol.asyncDispose]();
});

/** An event stream on a connection of its own; undefined where it was cut. */
async function follow({ port, headers }: WebSession): Promise<number | undefined> {
  const path = `/v1/events?follow=true&box=${box}`;
  const sent = request({ host: "127.0.0.1", port, path, headers, agent: false }).end();
  sent.on("error", () => undefined);
  open.push(sent);
  const [response] = (await Promise.race([once(sent, "response"), once(sent, "close")])) as [
    IncomingMessage | undefined,
  ];
  response?.resume();
  return response?.statusCode;
}

it("a guest cannot hold so many connections that the owner has none", async () => {
  const statuses: (number | undefined)[] = [];
  for (let left = 1_100; left > 0; left -= 50)
    statuses.push(...(await Promise.all(Array.from({ length: 50 }, () => follow(guest)))));
  const held = statuses.filter((status) => status === 200).length;
  expect(held).toBeGreaterThanOrEqual(64);
  expect(held).toBeLessThan(512);
  expect(statuses).toContain(429);
  for (const session of [owner, owner])
    expect((await ask({ port: session.port, path: "/v1/boxes", headers: session.headers })).status).toBe(200);
  expect(await follow(owner)).toBe(200);

  for (const one of open) one.destroy();
  await waitFor("there is room again", async () => (await follow(guest)) === 200, 30_000);
}, 120_000);
