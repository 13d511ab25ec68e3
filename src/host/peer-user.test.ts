import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { expect, it } from "vitest";
import { PeerUserReader, PeerUsers, isOfAnotherUser } from "./peer-user.ts";

const head =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const row = (from: string, to: string, uid: number): string =>
  `   0: ${from} ${to} 01 00000000:00000000 00:00000000 00000000  ${uid}        0 1 1 0 20 4 30 10 -1`;

it("finds the other end, and takes neither our own end nor another address for it", () => {
  const ends = { localPort: 0x1cfc, remotePort: 0xa000 };
  const theirs = row("0100007F:A000", "0100007F:1CFC", 1001);
  const ours = row("0100007F:1CFC", "0100007F:A000", 1000);
  const elsewhere = row("0500000A:A000", "0700000A:1CFC", 1002);
  expect(new PeerUsers([head, ours, elsewhere, theirs].join("\n")).of(ends)).toBe(1001);
  expect(new PeerUsers([head, ours, elsewhere].join("\n")).of(ends)).toBeUndefined();
  const closed = theirs.replace("1001        0 1", "0        0 0");
  expect(new PeerUsers([head, closed].join("\n")).of(ends)).toBeUndefined();
  const mapped = "0000000000000000FFFF00000100007F";
  expect(new PeerUsers([head, row(`${mapped}:A000`, `${mapped}:1CFC`, 1003)].join("\n")).of(ends)).toBe(1003);
});

it.skipIf(process.platform !== "linux")("knows a program of our own user from one of another", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = (await once(server, "connection")) as [Socket];
  const own = process.getuid!();
  expect(await isOfAnotherUser(socket, own)).toBe(false);
  // Root may act as any user, so for root this end has no single user.
  expect(await isOfAnotherUser(socket, own + 1)).toBe(own !== 0);
  const reader = new PeerUserReader();
  const asked = (user: number) => reader.isOf(new Set([user]), socket);
  expect(await Promise.all([asked(own), asked(own + 1), asked(own)])).toEqual([true, false, true]);
  client.destroy();
  socket.destroy();
  server.close();
});
