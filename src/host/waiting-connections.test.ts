import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { SocketPorts } from "./peer-user.ts";
import { type ClosedConnections, WaitingConnections } from "./waiting-connections.ts";

const open: { destroy(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.destroy();
});

/** A listener, and connections of users that the test names. */
async function listener(most: number) {
  const server = createServer().listen(0, "127.0.0.1");
  open.push({ destroy: () => server.close() });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const users = new Map<number, number>();
  const closed: ClosedConnections[] = [];
  const waiting = new WaitingConnections(server, {
    most,
    onClosed: (one) => closed.push(one),
    readUsers: async () => ({ of: ({ remotePort }: SocketPorts) => users.get(remotePort ?? 0) }),
  });
  const connectAs = async (user: number) => {
    const client = connect(port, "127.0.0.1");
    open.push(client);
    // A connection that is cut is what is looked for here.
    client.on("error", () => undefined);
    const [[socket]] = (await Promise.all([once(server, "connection"), once(client, "connect")])) as [
      [Socket],
      [],
    ];
    users.set(socket.remotePort!, user);
    const isGone = once(socket, "close");
    return { socket, isGone };
  };
  return { waiting, connectAs, closed };
}

it("closes the oldest of the user who has most, and leaves the others", async () => {
  const { waiting, connectAs, closed } = await listener(8);
  const honest = await connectAs(1000);
  const hostile = [];
  for (let index = 0; index < 8; index += 1) hostile.push(await connectAs(1001));
  await hostile[0]!.isGone;
  expect(honest.socket.destroyed).toBe(false);
  expect(hostile.at(-1)!.socket.destroyed).toBe(false);
  expect(closed).toEqual([{ user: 1001, count: 2 }]);
  expect(waiting.count).toBeLessThanOrEqual(8);
});

it("does not count one that has shown its right", async () => {
  const { waiting, connectAs, closed } = await listener(2);
  const admitted = [];
  for (let index = 0; index < 6; index += 1) {
    const one = await connectAs(1001);
    waiting.admit(one.socket);
    admitted.push(one);
  }
  await connectAs(1001);
  await connectAs(1001);
  const last = await connectAs(1001);
  await Promise.race([last.isGone, new Promise((resolve) => setImmediate(resolve))]);
  expect(admitted.map(({ socket }) => socket.destroyed)).not.toContain(true);
  expect(closed).toEqual([{ user: 1001, count: 1 }]);
});
