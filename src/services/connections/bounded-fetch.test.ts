import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { boundedFetch, checkAddress } from "./bounded-fetch.ts";

const server = createServer((request, response) => {
  if (request.url === "/silent") return;
  if (request.url === "/elsewhere") response.writeHead(307, { location: "/here" });
  response.end(request.url);
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe("a request", () => {
  it("follows no redirect", async () => {
    const fetch = boundedFetch();
    expect(await (await fetch(`${origin}/here`, { method: "POST" })).text()).toBe("/here");
    const answer = await fetch(`${origin}/elsewhere`, { method: "POST", body: "secret" });
    expect(answer.status).toBe(307);
    expect(await answer.text()).toBe("/elsewhere");
  });

  it("ends in time, and when its asker gives up", async () => {
    await expect(boundedFetch(50)(`${origin}/silent`, { method: "GET" })).rejects.toThrow("timeout");
    const aborted = boundedFetch()(`${origin}/silent`, { method: "GET", signal: AbortSignal.timeout(50) });
    await expect(aborted).rejects.toThrow("timeout");
  });

  it.each([
    "http://a.example/",
    "ftp://127.0.0.1/",
    "https://u:p@a.example/",
    "http://127.0.0.1.a.example/",
    "x",
  ])("does not go to %s", async (url) => {
    expect(() => checkAddress(url)).toThrow("not an https:// URL");
    await expect(boundedFetch()(url, { method: "GET" })).rejects.toMatchObject({
      code: "connection.failed",
    });
  });

  it("goes to this host without TLS", () => {
    for (const url of ["https://a.example/", "http://127.0.0.1:1/", "http://[::1]/", "http://localhost/"]) {
      expect(checkAddress(url).href).toBe(url);
    }
  });
});
