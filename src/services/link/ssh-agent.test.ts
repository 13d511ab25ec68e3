import { once } from "node:events";
import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import type { GateConnection } from "../../ports/gate.ts";
import { FixtureBox, removeBuild } from "./box.fixture.ts";

afterAll(removeBuild);

test("boxd's agent socket is its own, and each connection to it comes to the host as it is", async () => {
  const taken: GateConnection[] = [];
  const listener = {
    gate: (connection: GateConnection) => {
      taken.push(connection);
      connection.socket.pipe(connection.socket);
    },
  };
  await using box = await FixtureBox.listen({ listener, sshAgent: "keys/agent.sock" });
  const path = box.sshAgent!;
  // Left there by an earlier boxd.
  mkdirSync(dirname(path), { mode: 0o755 });
  writeFileSync(path, "");
  await box.boot();
  await box.link.waitConnected(5_000);
  const [directory, socket] = [lstatSync(dirname(path)), lstatSync(path)];
  expect({ directory: directory.mode & 0o777, socket: socket.mode & 0o777 }).toEqual({
    directory: 0o700,
    socket: 0o600,
  });
  expect(socket.isSocket()).toBe(true);
  expect((await box.exec(["cat", join(box.dir, ".ssh/known_hosts2")])).stdout).toBe("a key\n");

  const clients = [connect(path), connect(path)];
  for (const [index, client] of clients.entries()) {
    client.write(`bytes ${index}`);
    const [answer] = (await once(client, "data")) as [Buffer];
    expect(answer.toString()).toBe(`bytes ${index}`);
  }
  expect(taken.map(({ via, host, port }) => ({ via, host, port }))).toEqual(
    clients.map(() => ({ via: "ssh-agent", host: undefined, port: undefined })),
  );
  clients[0]!.destroy();
  await waitFor("the host sees its end", () => taken[0]!.socket.destroyed || taken[0]!.socket.readableEnded);
  clients[1]!.destroy();
});

test("a box without keys has no such socket", async () => {
  await using box = await FixtureBox.start();
  expect(box.sshAgent).toBeUndefined();
  expect((await box.exec(["sh", "-c", "echo $SSH_AUTH_SOCK"])).stdout).toBe("\n");
});
