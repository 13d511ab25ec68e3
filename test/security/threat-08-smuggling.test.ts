/**
 * Threat 8: a request inside a request. A request with two readings is refused, and one that passes reaches the server
 * exactly as it was judged; the server of these tests keeps every byte it gets.
 */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { ports } from "../support/network.ts";
import { boxOn, onNetwork, recordsOf } from "../support/network-ground.ts";
import { tryInBox, tryOnce, type ArrivalKind } from "./ways-in.ts";

const box = "smuggling";
const host = "raw.test";
const port = ports.raw;
const headers = `Host: ${host}:${port}\r\n`;
const inner = `GET /forbidden/inner HTTP/1.1\r\n${headers}\r\n`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Each holds a request for /forbidden that some server somewhere would see. */
const corpus: Readonly<Record<string, string>> = {
  "a path that is not allowed": `GET /forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "a method that is not allowed": `POST /forbidden/x HTTP/1.1\r\n${headers}Content-Length: 0\r\n\r\n`,
  "length and chunked": `POST /open/x HTTP/1.1\r\n${headers}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  "chunked and length": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${inner}`,
  "two lengths": `POST /open/x HTTP/1.1\r\n${headers}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
  "a list of lengths": `POST /open/x HTTP/1.1\r\n${headers}Content-Length: 0, ${inner.length}\r\n\r\n${inner}`,
  "a signed length": `POST /open/x HTTP/1.1\r\n${headers}Content-Length: +0\r\n\r\n${inner}`,
  "a negative length": `POST /open/x HTTP/1.1\r\n${headers}Content-Length: -1\r\n\r\n${inner}`,
  "a hexadecimal length": `POST /open/x HTTP/1.1\r\n${headers}Content-Length: 0x0\r\n\r\n${inner}`,
  "a coding with a tab": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding:\tchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${inner}`,
  "a coding with a space before the colon": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
  "an unknown coding": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
  "two codings": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${inner}`,
  "a coding that ends differently": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
  "a folded header": `GET /open/x HTTP/1.1\r\n${headers}X-A: b\r\n Transfer-Encoding: chunked\r\n\r\n${inner}`,
  "a folded coding": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${inner}`,
  "lines that end with LF": `GET /open/x HTTP/1.1\n${headers.replace("\r", "")}X: y\n\n${inner}`,
  "a header that ends with LF": `GET /open/x HTTP/1.1\r\n${headers}X: y\nGET /forbidden/lf HTTP/1.1\r\n\r\n`,
  "a bare CR in a header": `GET /open/x HTTP/1.1\r\n${headers}X: y\rGET /forbidden/cr HTTP/1.1\r\n\r\n`,
  "a NUL in a header": `GET /open/x HTTP/1.1\r\n${headers}X: y\0GET /forbidden/nul\r\n\r\n`,
  "chunks that end with LF": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n0\n\n${inner}`,
  "a chunk size that overflows": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n${inner}`,
  "a chunk extension with a line end": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n0;a=\n\r\n\r\n${inner}`,
  "a chunk longer than it says": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${inner}`,
  "dots in the path": `GET /open/../forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "encoded dots": `GET /open/%2e%2e/forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "half encoded dots": `GET /open/.%2E/forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "doubly encoded dots": `GET /open/%252e%252e/forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "an encoded slash": `GET /open/..%2fforbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "a backslash": `GET /open/..\\forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "an encoded backslash": `GET /open/..%5cforbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "two slashes": `GET //forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "slashes inside": `GET /open//../forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "dots with a parameter": `GET /open/..;/forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "an encoded NUL": `GET /open/%00/../forbidden HTTP/1.1\r\n${headers}\r\n`,
  "an overlong encoding of a dot": `GET /open/%c0%ae%c0%ae/forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "a fragment": `GET /open/x#/../../forbidden HTTP/1.1\r\n${headers}\r\n`,
  "an address as target": `GET http://denied.test/forbidden HTTP/1.1\r\n${headers}\r\n`,
  "another absolute target": `GET http://${host}:${port}/forbidden HTTP/1.1\r\n${headers}\r\n`,
  "a target with a space": `GET /open/x /forbidden HTTP/1.1\r\n${headers}\r\n`,
  "a tab in the request line": `GET /open/x\t/forbidden HTTP/1.1\r\n${headers}\r\n`,
  "bytes beyond ASCII": `GET /open/\xc0\xaf/forbidden HTTP/1.1\r\n${headers}\r\n`,
  "an old version": `GET /forbidden\r\n\r\n`,
  "a version of its own": `GET /open/x HTTP/9.9\r\n${headers}\r\n${inner}`,
  "a method in small letters": `get /forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "a method with a NUL": `GET\0 /forbidden/x HTTP/1.1\r\n${headers}\r\n`,
  "the preface of HTTP/2": `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET /forbidden HTTP/1.1\r\n${headers}\r\n`,
  "an upgrade to HTTP/2": `GET /forbidden/x HTTP/1.1\r\n${headers}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
  "a tunnel inside": `CONNECT denied.test:443 HTTP/1.1\r\n${headers}\r\n`,
  "a trace": `TRACE /open/x HTTP/1.1\r\n${headers}X: /forbidden\r\n\r\n`,
  "a second request that is not allowed": `GET /open/x HTTP/1.1\r\n${headers}\r\n${inner}`,
  "a second one after a body": `POST /open/x HTTP/1.1\r\n${headers}Content-Length: 3\r\n\r\nabc${inner}`,
  "a second one after chunks": `POST /open/x HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n${chunk("abc")}0\r\n\r\n${inner}`,
  "no Host": `GET /open/x HTTP/1.1\r\nX: /forbidden\r\n\r\n${inner}`,
  "two Hosts": `GET /open/x HTTP/1.1\r\n${headers}${headers}\r\n${inner}`,
  "another Host": `GET /open/x HTTP/1.1\r\nHost: denied.test\r\n\r\n${inner}`,
};

const wayIn: readonly ArrivalKind[] = ["link", "connect"];

/** The bytes that the server got: every request line and every body, as text. */
const received = (arrivals: readonly { kind: string; text?: string }[]): string =>
  arrivals.flatMap((arrival) => (arrival.kind === "raw" ? [arrival.text ?? ""] : [])).join("\n");

onNetwork(
  "smuggling",
  (ground) => {
    it("passes on what is allowed, byte for byte where it counts", async () => {
      const { daemon, network } = ground;
      for (const way of wayIn) {
        await network.forget();
        const body = "exactly these bytes";
        const bytes = `POST /open/a%20b?q=%2e HTTP/1.1\r\n${headers}X-Kept: Yes\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
        const outcome = await tryOnce(daemon, box, { way, host, port, bytes });
        expect(outcome.said, way).toContain("raw");
        const text = await waitFor(
          "the server has it",
          async () => received(await network.arrivals()) || undefined,
          8_000,
        );
        expect(text).toMatch(new RegExp(`^POST /open/a%20b\\?q=%2e HTTP/1\\.1\\r\\n`));
        expect(text).toContain("X-Kept: Yes\r\n");
        expect(text.endsWith(`\r\n\r\n${body}`)).toBe(true);
      }
    });

    it.each(Object.entries(corpus))("lets nothing through: %s", async (_title, bytes) => {
      const { daemon, network } = ground;
      const before = (await recordsOf(daemon, box)).length;
      await tryInBox(
        daemon,
        box,
        wayIn.map((way) => ({ way, host, port, bytes, waitMs: 700 })),
      );
      const text = received(await network.arrivals());
      expect(text).not.toContain("/forbidden");
      expect(text).not.toContain("denied.test");
      const records = (await recordsOf(daemon, box)).slice(before);
      expect(records.length).toBeGreaterThanOrEqual(wayIn.length);
      // A body that breaks off belongs to a request that was allowed; nothing else was let through.
      const isBrokenBody = records.every(({ status, bytesIn }) => status === undefined && bytesIn === 0);
      const refusals = records.filter(({ verdict }) => verdict === "deny").length;
      expect(isBrokenBody || refusals >= wayIn.length, JSON.stringify(records)).toBe(true);
      // A request that passed was judged by the line the server saw.
      const lines = text.match(/^[A-Z]+ \S+ HTTP\/1\.1/gm) ?? [];
      expect(lines.length).toBeLessThanOrEqual(records.filter(({ verdict }) => verdict === "allow").length);
    });

    it("does the same for a proxy's requests", async () => {
      const { daemon, network } = ground;
      const base = `http://${host}:${port}`;
      const absolute = (bytes: string): string => bytes.replace(/^([A-Za-z]+) \//, `$1 ${base}/`);
      const control = await tryOnce(daemon, box, {
        way: "absolute",
        host,
        port,
        bytes: absolute(`GET /open/x HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`),
      });
      expect(control.said).toContain("raw");
      const attempts = Object.values(corpus).map((bytes) => ({ bytes: absolute(bytes), waitMs: 700 }));
      await tryInBox(
        daemon,
        box,
        attempts.map((one) => ({ way: "absolute", host, port, ...one })),
      );
      expect(received(await network.arrivals())).not.toContain("/forbidden");
      const userInfo = `GET http://${host}:${port}@denied.test/forbidden HTTP/1.1\r\n${headers}\r\n`;
      await tryOnce(daemon, box, { way: "absolute", host, port, bytes: userInfo, waitMs: 400 });
      expect((await network.arrivals()).some((one) => one.kind === "http")).toBe(false);
    }, 120_000);
  },
  {
    prepare: ({ daemon }) =>
      boxOn(daemon, box, {
        rules: [{ host, ports: [port], methods: ["GET", "POST"], paths: ["/open/**"] }],
      }),
  },
);
