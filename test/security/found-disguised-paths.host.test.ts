/**
 * Found by attack: a denied path passed in another spelling that servers take for the same ("/ADMIN/x", "/admin;a=b/x",
 * "/secret/"), and a header of another method or path passed under rules that decide by them.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decideSafely } from "../../src/core/policy/decide-egress.ts";
import { compile } from "../../src/core/policy/policy.fixture.ts";
import {
  type GateFixture,
  type TestServer,
  httpsServer,
  openGateFixture,
  readAll,
  startTls,
} from "../../src/services/gate/fixtures/gate.fixture.ts";

const host = "api.example.org";
const port = (): number => server.port;
let server: TestServer;
let fixture: GateFixture;
/** Every method and target that the server was asked for, and what came at the end. */
const arrived: string[] = [];

beforeAll(async () => {
  server = await httpsServer(host, (request, response) => {
    request.resume().on("end", () => {
      arrived.push(`${request.method} ${request.url} ${JSON.stringify(request.trailers)}`);
      response.end("served");
    });
  });
  fixture = await openGateFixture({ decide: decideSafely });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const rule = (more: string): string => `[[network.rules]]\nhost = "${host}"\nports = [${port()}]\n${more}\n`;
const use = (...rules: string[]): void =>
  fixture.setWholePolicy(compile({ project: rules.map(rule).join("") }));
/** The whole host, with every request read. */
const open = "inspect = true";
const denied = 'mode = "deny"\npaths = ["/admin/**", "/secret"]';

async function ask(target: string, headers: readonly string[] = [], method = "GET"): Promise<string> {
  const socket = await startTls(
    await fixture.open({ via: "tcp", host, port: port() }),
    host,
    readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8"),
  );
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, "Connection: close", ...headers];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return readAll(socket);
}

/** Exactly one record for the request; nothing of it came to the server. */
async function expectRefused(
  target: string,
  reason: RegExp,
  headers: readonly string[] = [],
  method = "GET",
): Promise<void> {
  fixture.records.length = 0;
  arrived.length = 0;
  const answer = await ask(target, headers, method);
  expect(answer, target).toMatch(/^HTTP\/1\.1 (?:403|400) .*x-agentbox: denied/s);
  expect(arrived, target).toEqual([]);
  expect(fixture.records).toEqual([
    expect.objectContaining({ verdict: "deny", host, reason: expect.stringMatching(reason) }),
  ]);
}

async function expectServed(target: string, headers: readonly string[] = [], method = "GET"): Promise<void> {
  fixture.records.length = 0;
  arrived.length = 0;
  expect(await ask(target, headers, method), target).toMatch(/^HTTP\/1\.1 200 .*served$/s);
  expect(arrived).toEqual([`${method} ${target} {}`]);
  await fixture.waitForRecord(({ verdict }) => verdict === "allow");
}

const disguised = [
  "/ADMIN/x",
  "/Admin",
  "/admin;a=b/x",
  "/admin./x",
  "/admin%20/x",
  "/admin%C2%A0/x",
  "/ad%EF%BD%8Din/x",
  "/%61dmin/x",
  "/%2561dmin/x",
  "/%25%36%31dmin/x",
  "/%C1%A1dmin/x",
  "//admin/x",
  "/./admin/x",
  "/open/../admin/x",
  "/open/..;/admin/x",
  "/open/..%2fadmin/x",
  "/open%5c..%5cadmin/x",
  "/open\\..\\admin/x",
  "/open%EF%BC%8F..%EF%BC%8Fadmin",
  "/secret/",
  "/secret;x",
  "/SECRET",
  "/secret%3Fx",
  "/secret%00",
  "/secret.json",
] as const;

describe("a denied path", () => {
  it.each(disguised)("is denied as %s", async (target) => {
    use(open);
    // The control: the same bytes pass where no rule denies them, unless they have two readings everywhere.
    if (!/%00|%5c|\\|\/\/|\.\.|\/\.|%25|%C1/i.test(target)) await expectServed(target);
    use(open, denied);
    await expectServed("/open/x");
    await expectRefused(target, /^rule_denies$/);
  });

  it("is denied in other spellings over HTTP/2", async () => {
    use(open, denied);
    const socket = await startTls(
      await fixture.open({ via: "tcp", host, port: port() }),
      host,
      readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8"),
      ["h2"],
    );
    const session = connectHttp2(`https://${host}:${port()}`, { createConnection: () => socket });
    const statusOf = async (path: string): Promise<unknown> => {
      const stream = session.request({ ":path": path });
      const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
      stream.resume();
      await once(stream, "close");
      return headers[":status"];
    };
    expect(await statusOf("/open/x")).toBe(200);
    arrived.length = 0;
    for (const target of disguised.filter((one) => !one.includes("\\")))
      expect([400, 403], target).toContain(await statusOf(target));
    expect(arrived).toEqual([]);
    session.destroy();
  });

  it("is not permitted by a pattern that fits one reading of it only", async () => {
    use('paths = ["/**/*.png", "/open/**"]');
    await expectServed("/open/x;y");
    await expectServed("/admin/x.png");
    for (const target of ["/admin;x.png", "/admin%3Fx.png", "/open/%E2%80%A5/admin", "/open/..%20/admin"])
      await expectRefused(target, /^malformed$/);
  });
});

describe("a second word on the method or the path", () => {
  const methodHeaders = [
    "X-HTTP-Method-Override",
    "X-HTTP-Method",
    "X-Method-Override",
    "x_http_method_override",
  ];
  const pathHeaders = [
    "X-Original-URL",
    "X-Rewrite-URL",
    "X-Forwarded-Prefix",
    "X-Forwarded-Uri",
    "Destination",
  ];

  it.each(methodHeaders)("is refused in the header %s where a rule is about methods", async (name) => {
    const headers = [`${name}: DELETE`, "Content-Length: 0"];
    use(open);
    await expectServed("/x", headers, "POST");
    use('methods = ["GET", "POST"]');
    await expectServed("/x", ["Content-Length: 0"], "POST");
    await expectRefused("/x", /^overridden$/, headers, "POST");
    use(open, 'mode = "deny"\nmethods = ["DELETE"]');
    await expectRefused("/x", /^overridden$/, headers, "POST");
    use('paths = ["/x"]');
    await expectServed("/x", headers, "POST");
  });

  it.each(["_method=DELETE", "a=1&%5FMETHOD=PUT", "X-HTTP-Method-Override=DELETE"])(
    "is refused in the query %s",
    async (query) => {
      use('methods = ["POST"]');
      await expectServed("/x?method=DELETE", ["Content-Length: 0"], "POST");
      await expectRefused(`/x?${query}`, /^overridden$/, ["Content-Length: 0"], "POST");
    },
  );

  it.each(pathHeaders)("is refused in the header %s where a rule is about paths", async (name) => {
    const headers = [`${name}: /admin/x`];
    use('methods = ["GET"]');
    await expectServed("/open/x", headers);
    use('paths = ["/open/**"]');
    await expectServed("/open/x");
    await expectRefused("/open/x", /^overridden$/, headers);
    use(open, denied);
    await expectRefused("/open/x", /^overridden$/, headers);
  });

  it("does not come after the body", async () => {
    use('methods = ["POST"]');
    arrived.length = 0;
    const body = "0\r\nX-HTTP-Method-Override: DELETE\r\nX-Sum: 1";
    const answer = await ask("/x", ["Transfer-Encoding: chunked", "", body], "POST");
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(arrived).toEqual(['POST /x {"x-sum":"1"}']);
  });
});

it("a denial of GET is one of HEAD", async () => {
  use(open);
  expect(await ask("/secret", [], "HEAD")).toMatch(/^HTTP\/1\.1 200/);
  use(open, 'mode = "deny"\nmethods = ["GET"]\npaths = ["/secret"]');
  await expectRefused("/secret", /^rule_denies$/, [], "HEAD");
});
