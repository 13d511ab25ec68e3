/** One attempt to connect to one address within a time, and why it failed. */
import { type Socket, connect } from "node:net";
import { AgentBoxError } from "../../../base/errors.ts";
import type { Relay } from "../../../base/relay-buffers.ts";
import type { DenyReason } from "../../../contract/network/policy.ts";

/** Sockets whose bytes go straight on; they must not be read from. */
const relayed = new WeakSet<Socket>();
export const isRelayed = (socket: Socket): boolean => relayed.has(socket);

export function connectOnce(host: string, port: number, timeoutMs: number, relay?: Relay): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const options = { host, port, allowHalfOpen: true, noDelay: true };
    const socket = connect(relay === undefined ? options : { ...options, onread: relay });
    if (relay !== undefined) {
      relayed.add(socket);
      // The server may speak at once, before the two ends are joined.
      socket.pause();
    }
    const timer = setTimeout(
      () => socket.destroy(dialFailure("unreachable", `${host} did not answer in time`)),
      timeoutMs,
    );
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.removeAllListeners("error");
      // The caller that takes it listens too; until then an error must not end the process.
      socket.on("error", () => undefined);
      resolve(socket);
    });
  });
}

export function dialFailure(reason: DenyReason, message: string): AgentBoxError {
  return new AgentBoxError("egress.failed", message, { facts: { reason } });
}

/** Why a dial or an exchange with the server failed, for the record. */
export function failureReason(error: unknown): DenyReason {
  const reason = error instanceof AgentBoxError ? error.facts?.["reason"] : undefined;
  return typeof reason === "string" ? (reason as DenyReason) : "unreachable";
}
