/** A server whose host is managed, behind a gate with an injection, and a program that speaks to it. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { type GateFixture, httpsServer, openGateFixture, readAll, rule, startTls } from "./gate.fixture.ts";
import type { GateOptions } from "./index.ts";
import { fakeInjection } from "./injection.fixture.ts";

export const name = "api.example.org";
export const ownCa = (fixture: GateFixture): string =>
  readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8");

/** Answers with everything it was told, in its head and its body. */
export const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url, headers, trailers } = request;
    response.setHeader("x-echo", headers.authorization ?? "none");
    const body = Buffer.concat(chunks).toString();
    response.end(JSON.stringify({ method, url, headers, body, trailers }));
  });
};

export async function managed(handle: RequestListener = echo, options: Partial<GateOptions> = {}) {
  const seen: IncomingMessage[] = [];
  const server = await httpsServer(name, (request, response) => {
    seen.push(request);
    handle(request, response);
  });
  const injection = fakeInjection(`${name}:${server.port}`);
  const fixture = await openGateFixture({ injection, ...options });
  // The rule asks for nothing to be read: that the host is managed must be enough.
  fixture.setPolicy(rule(name, server.port));
  const dial = () => fixture.open({ via: "tcp", host: name, port: server.port });
  return {
    server,
    seen,
    injection,
    fixture,
    dial,
    open: async (protocols: string[] = []) => await startTls(await dial(), name, ownCa(fixture), protocols),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

export const raw = async (socket: Socket, text: string): Promise<string> => {
  socket.write(text, "latin1");
  return await readAll(socket);
};
export const get = (path: string, host = name): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
export const post = (path: string, body: string, more = ""): string =>
  `POST ${path} HTTP/1.1\r\nHost: ${name}\r\nContent-Length: ${body.length}\r\n${more}Connection: close\r\n\r\n${body}`;

export type ManagedGround = Awaited<ReturnType<typeof managed>>;
