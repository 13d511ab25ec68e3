import { once } from "node:events";
import { expect, it } from "vitest";
import { ended, openGateFixture, readAll, rule, tcpServer } from "../fixtures/gate.fixture.ts";
import { parseUpstreamProxy } from "./upstream-proxy.ts";

/** A company's proxy that answers for every name itself. */
const companyProxy = (heads: string[], status = "200 OK") =>
  tcpServer((socket) => {
    socket.once("data", (head: Buffer) => {
      heads.push(head.toString());
      socket.write(`HTTP/1.1 ${status}\r\n\r\n`);
      socket.pipe(socket);
    });
  });

it("goes through a company's proxy by name, with its credentials, and still judges", async () => {
  const heads: string[] = [];
  await using proxy = await companyProxy(heads);
  await using fixture = await openGateFixture({
    upstreamProxy: `http://user:p%40ss@127.0.0.1:${proxy.port}`,
    resolve: async () => [],
  });
  fixture.setPolicy(rule("www.example.org", 7));
  const socket = await fixture.open({ via: "tcp", host: "www.example.org", port: 7 });
  socket.end("hello\n");
  expect(await readAll(socket)).toBe("hello\n");
  const login = Buffer.from("user:p@ss").toString("base64");
  expect(heads).toEqual([
    `CONNECT www.example.org:7 HTTP/1.1\r\nHost: www.example.org:7\r\nProxy-Authorization: Basic ${login}\r\n\r\n`,
  ]);
  const denied = await fixture.open({ via: "tcp", host: "other.example.org", port: 7 });
  denied.write("hello\n");
  await ended(denied);
  expect(heads).toHaveLength(1);
  expect(JSON.stringify(fixture.records)).not.toContain("p@ss");
});

it("takes its refusal for a failure of the network", async () => {
  await using proxy = await companyProxy([], "407 Proxy Authentication Required");
  await using fixture = await openGateFixture({ upstreamProxy: `http://127.0.0.1:${proxy.port}` });
  fixture.setPolicy(rule("www.example.org", 7));
  const socket = await fixture.open({ via: "proxy" });
  socket.write("CONNECT www.example.org:7 HTTP/1.1\r\n\r\n");
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toContain("The upstream proxy answered 407.");
});

it("does not repeat a URL it cannot use", () => {
  expect(parseUpstreamProxy("http://proxy.example.org:3128")).toMatchObject({ port: 3128 });
  expect(() => parseUpstreamProxy("ftp://user:hush@proxy.example.org")).toThrow(/not an http/);
  expect(() => parseUpstreamProxy("ftp://user:hush@proxy.example.org")).not.toThrow(/hush/);
});
