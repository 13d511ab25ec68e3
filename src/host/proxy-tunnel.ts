/** A connection through a company's HTTP proxy. Its address may hold a password, so no message names it. */
import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { AgentBoxError } from "../base/errors.ts";

export interface TunnelTarget {
  /** As it stands in a URL, so with brackets around an IPv6 address. */
  readonly host: string;
  readonly port: number;
}

export function openTunnel(proxy: URL, { host, port }: TunnelTarget, timeoutMs: number): Promise<Socket> {
  const user = decodeURIComponent(proxy.username);
  const login = `${user}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const fail = (): void =>
      reject(new AgentBoxError("egress.failed", "the upstream proxy did not let it through"));
    const request = httpRequest({
      host: proxy.hostname,
      port: proxy.port || 80,
      method: "CONNECT",
      path: `${host}:${port}`,
      headers: {
        host: `${host}:${port}`,
        ...(user === "" ? {} : { "proxy-authorization": `Basic ${Buffer.from(login).toString("base64")}` }),
      },
      agent: false,
      timeout: timeoutMs,
    });
    request.once("connect", (answer, socket) => {
      if (answer.statusCode === 200) return resolve(socket);
      socket.destroy();
      fail();
    });
    request.once("response", (answer) => {
      answer.destroy();
      fail();
    });
    request.once("timeout", () => request.destroy());
    request.once("error", fail);
    request.end();
  });
}
