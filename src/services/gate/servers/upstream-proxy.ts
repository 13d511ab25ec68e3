/**
 * A company's own HTTP proxy on the way out. The gate asks it for a tunnel to every judged name; names are resolved
 * there, so address checks are the company's. Its credentials stay in the daemon and in no message or log.
 */
import type { Socket } from "node:net";
import { AgentBoxError } from "../../../base/errors.ts";
import { connectOnce, dialFailure } from "./connect.ts";
import type { GateLimits } from "../limits.ts";

export interface UpstreamProxy {
  readonly host: string;
  readonly port: number;
  readonly authorization: string | undefined;
}

export function parseUpstreamProxy(url: string): UpstreamProxy {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "http:" || parsed.hostname === "") {
    // SECURITY: the URL is not repeated, because it may hold a password.
    throw new AgentBoxError("gate.start_failed", "The upstream proxy is not an http:// URL with a host.", {
      hint: "Write it as http://proxy.example.org:3128 or http://user:password@proxy.example.org:3128.",
    });
  }
  const user = decodeURIComponent(parsed.username);
  const password = decodeURIComponent(parsed.password);
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ""),
    port: parsed.port === "" ? 80 : Number(parsed.port),
    authorization: user === "" ? undefined : `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
  };
}

export async function connectThroughProxy(
  proxy: UpstreamProxy,
  host: string,
  port: number,
  limits: GateLimits,
): Promise<Socket> {
  const socket = await connectOnce(proxy.host, proxy.port, limits.connectMs).catch(() => {
    throw dialFailure("unreachable", "The upstream proxy could not be reached.");
  });
  // SECURITY: host is canonical and port a number, so neither can add a line to this request.
  const lines = [`CONNECT ${host}:${port} HTTP/1.1`, `Host: ${host}:${port}`];
  if (proxy.authorization !== undefined) lines.push(`Proxy-Authorization: ${proxy.authorization}`);
  socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  try {
    const status = await readStatus(socket, limits);
    if (status === 200) return socket;
    throw dialFailure("unreachable", `The upstream proxy answered ${status ?? "nothing it could mean"}.`);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function readStatus(socket: Socket, limits: GateLimits): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0);
    const fail = (): void =>
      done(() => reject(dialFailure("unreachable", "The upstream proxy did not answer.")));
    const timer = setTimeout(fail, limits.connectMs);
    const done = (then: () => void): void => {
      clearTimeout(timer);
      socket.pause();
      socket.off("data", onData).off("close", fail).off("end", fail);
      then();
    };
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end === -1) return head.length > limits.headerBytes ? fail() : undefined;
      const rest = head.subarray(end + 4);
      const status = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(head.toString("latin1"))?.[1];
      done(() => {
        if (rest.length > 0) socket.unshift(rest);
        resolve(status === undefined ? undefined : Number(status));
      });
    };
    socket.on("data", onData).on("close", fail).on("end", fail);
  });
}
