/** Ports of this machine that are ports of a box: each connection goes over the API, as a stream of its own. */
import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { AgentBoxError, systemCode, toAgentBoxError } from "../../base/errors.ts";
import type { Client } from "../../client/index.ts";
import type { StreamAnswer } from "../../contract/api/schemas.ts";
import { PeerUserReader } from "../../host/peer-user.ts";

export interface Forward {
  /** In the box. */
  readonly port: number;
  /** Here; 0 for any that is free. */
  readonly local: number;
}

export interface OpenForward extends Forward, AsyncDisposable {}

/** On loopback only, so that what the box serves is not for the network of this machine. */
const host = "127.0.0.1";
/** A box has places for 256 connections, and the rest of its life needs some. */
const maxConnections = 128;

export interface ForwardOptions {
  /** SECURITY: every user of the machine can open a port of loopback, and only these are let in. */
  readonly users: ReadonlySet<number>;
  readonly onFailure: (error: AgentBoxError) => void;
}

const notYours = (local: number): AgentBoxError =>
  new AgentBoxError(
    "access.forbidden",
    `A program of another user tried to connect to port ${local}; it was refused.`,
    {
      hint: "A forwarded port is for your own programs. Another person opens one of their own.",
    },
  );

export async function openForward(
  client: Client,
  box: string,
  { port, local }: Forward,
  { users, onFailure }: ForwardOptions,
): Promise<OpenForward> {
  const sockets = new Set<Socket>();
  const peers = new PeerUserReader();
  let joined = 0;
  let isForeignSaid = false;
  const admit = async (socket: Socket): Promise<void> => {
    const { localPort = local } = socket;
    if (await peers.isOf(users, socket)) {
      // Counted here and not by the server, or connections of others would take the places.
      if (joined >= maxConnections || socket.destroyed) return void socket.resetAndDestroy();
      joined += 1;
      return join(client, { box, port }, socket).finally(() => (joined -= 1));
    }
    socket.resetAndDestroy();
    if (isForeignSaid) return;
    isForeignSaid = true;
    throw notYours(localPort);
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    admit(socket).catch((error: unknown) => {
      onFailure(toAgentBoxError(error));
      socket.destroy();
    });
  });
  server.listen(local, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const isTaken = systemCode(error) === "EADDRINUSE";
    throw new AgentBoxError(
      "port.taken",
      `Port ${local} of this machine ${isTaken ? "is in use" : "cannot be used"}.`,
      { hint: `Take any that is free: agentbox port-forward ${box} ${port}:0`, cause: error },
    );
  }
  return {
    port,
    local: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Joins a connection here and one in the box, with back pressure both ways. */
async function join(
  client: Client,
  { box, port }: { readonly box: string; readonly port: number },
  socket: Socket,
): Promise<void> {
  const stream = await client.connectPort(box, { port });
  await new Promise<void>((resolve, reject) => {
    stream.onText((text) => {
      const answer = JSON.parse(text) as StreamAnswer;
      if (answer.type === "error") reject(AgentBoxError.fromBody(answer.error));
      else if (answer.type === "end") socket.end();
    });
    stream.onData((chunk) => {
      if (!socket.write(chunk)) stream.pause();
    });
    stream.onDrain(() => socket.resume());
    stream.onClose(() => {
      socket.destroySoon();
      resolve();
    });
    socket.on("data", (chunk) => {
      if (!stream.sendData(chunk)) socket.pause();
    });
    socket.on("drain", () => stream.resume());
    socket.on("end", () => stream.endInput());
    socket.on("close", () => stream.close());
    socket.resume();
  });
}
