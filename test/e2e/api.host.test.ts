import { request } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorCodes } from "../../src/base/error-codes.ts";
import type { Route } from "../../src/contract/api/route.ts";
import { routes } from "../../src/contract/api/routes.ts";
import { isBoxName } from "../../src/core/box/box-names.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

interface Raw {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

function call(
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<Raw> {
  const framing = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { socketPath: daemon.socket, method, path, headers: { ...framing, ...headers } },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            text: Buffer.concat(parts).toString(),
          }),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

describe("probes", () => {
  it("says that it lives and is ready", async () => {
    expect((await call("GET", "/livez")).status).toBe(200);
    const { status, text } = await call("GET", "/readyz");
    expect(status).toBe(200);
    const { isReady, checks } = JSON.parse(text) as { isReady: boolean; checks: { name: string }[] };
    expect(isReady).toBe(true);
    expect(checks.map(({ name }) => name)).toEqual(["store", "runtime", "disk"]);
    expect((await call("GET", "/healthz")).status).toBe(404);
  });

  it("counts in Prometheus' format", async () => {
    await daemon.client.createBox({ name: "counted-box", start: false });
    const { text } = await call("GET", "/metrics");
    expect(text).toContain('agentbox_boxes{phase="stopped",runtime="bubblewrap"} 1');
    expect(text).toMatch(/agentbox_events_total\{type="box.created"\} [1-9]/);
    await daemon.client.removeBox("counted-box");
  });

  it("describes itself as OpenAPI 3.1, every route of the table", async () => {
    const document = JSON.parse((await call("GET", "/openapi.json")).text) as {
      openapi: string;
      paths: Record<string, Record<string, unknown>>;
    };
    expect(document.openapi).toBe("3.1.0");
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(
      Object.values(routes)
        .map(({ method, path }: Route) => `${method} ${path}`)
        .sort(),
    );
  });
});

describe("the event stream", () => {
  async function follow(
    after: number,
    count: number,
    headers: Record<string, string> = {},
  ): Promise<number[]> {
    return new Promise((resolve, reject) => {
      const ids: number[] = [];
      const query = headers["last-event-id"] === undefined ? `&after=${after}` : "";
      const outgoing = request(
        { socketPath: daemon.socket, path: `/v1/events?follow=true${query}`, headers },
        (response) => {
          expect(response.headers["content-type"]).toBe("text/event-stream");
          response.on("data", (chunk: Buffer) => {
            for (const [, id] of chunk.toString().matchAll(/^id: (\d+)$/gm)) ids.push(Number(id));
            if (ids.length >= count) {
              response.destroy();
              resolve(ids);
            }
          });
        },
      );
      outgoing.on("error", (error) => (ids.length >= count ? undefined : reject(error)));
      outgoing.end();
    });
  }

  it("resumes from an event id without a hole or a double, while new ones come", async () => {
    const before = (await daemon.client.listEvents({ limit: 1, order: "newest" })).lastId;
    const following = follow(before, 20);
    for (let n = 0; n < 5; n++) {
      await daemon.client.createBox({ name: `event-box-${n}`, start: false });
      await daemon.client.removeBox(`event-box-${n}`);
    }
    const ids = await following;
    expect(ids.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, n) => before + 1 + n));
    const resumed = await follow(0, 10, { "last-event-id": String(before + 10) });
    expect(resumed.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, n) => before + 11 + n));
  });

  it("refuses an invalid id", async () => {
    const { status, text } = await call("GET", "/v1/events?follow=true", undefined, { "last-event-id": "x" });
    expect(status).toBe(400);
    expect(text).toContain("input.invalid");
  });
});

describe("bad input", () => {
  const isCoded = ({ status, text }: Raw): boolean => {
    if (status < 400) return true;
    if (text === "") return false;
    const { error } = JSON.parse(text) as { error: { code: keyof typeof errorCodes; message: string } };
    return (
      Object.hasOwn(errorCodes, error.code) &&
      errorCodes[error.code].status === status &&
      error.message !== ""
    );
  };

  it("a web page is refused, whatever it asks", async () => {
    expect((await call("GET", "/v1/boxes")).status).toBe(200);
    expect((await call("GET", "/v1/boxes", undefined, { origin: "https://evil.test" })).status).toBe(400);
  });

  it("any body on any route is answered with a code, and the daemon lives", async () => {
    const paths = Object.values(routes)
      .filter((route: Route) => route.media !== "websocket" && route.path !== "/v1/daemon/stop")
      .map((route: Route) => ({ method: route.method, path: route.path.replace(/\{\w+\}/g, "no-such-box") }));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.oneof(
          fc.json(),
          fc.string({ unit: "binary" }),
          fc.constant("{"),
          fc.constant('{"__proto__":{"a":1}}'),
        ),
        async ({ method, path }, body) => {
          const answer = await call(method, path, method === "GET" ? undefined : body);
          expect(isCoded(answer), `${method} ${path} ${body} → ${answer.status} ${answer.text}`).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
    expect((await daemon.client.getInfo()).pid).toBe(daemon.pid);
    expect(await daemon.client.listBoxes()).toEqual([]);
  });

  it("a body that is too large is refused before it is read", async () => {
    const answer = await call("POST", "/v1/boxes", JSON.stringify({ name: "x".repeat(3 << 20) })).catch(
      () => undefined,
    );
    if (answer) expect(answer.status).toBe(413);
    expect((await daemon.client.getInfo()).pid).toBe(daemon.pid);
  });

  it("hostile names and ids make nothing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("..", "../x", "-x", "a/b", "A")),
        async (name) => {
          fc.pre(!isBoxName(name));
          const made = daemon.client.createBox({ name, start: false });
          await expect(made).rejects.toMatchObject({ code: expect.stringMatching(/^(input|box)\./) });
        },
      ),
      { numRuns: 60, examples: [["%2e%2e"], ["a\0b"], ["x".repeat(5000)]] },
    );
    expect(await daemon.client.listBoxes()).toEqual([]);
  });
});
