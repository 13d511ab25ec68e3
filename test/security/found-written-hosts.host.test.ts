/**
 * Found by attack: a Host header that is the judged name only when it is folded ("API.example.org.", "\xaapi.example.org")
 * went to the server as it was written, where it can be another site. The server now gets the name that was judged.
 */
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type GateFixture,
  type TestServer,
  httpServer,
  httpsServer,
  openGateFixture,
  readAll,
  rule,
  startTls,
} from "../../src/services/gate/fixtures/gate.fixture.ts";
import { fakeInjection } from "../../src/services/gate/fixtures/injection.fixture.ts";

const name = "api.example.org";
/** The Host headers that the server has read. */
const hosts: (string | undefined)[] = [];
let secure: TestServer;
let plain: TestServer;
let fixture: GateFixture;

beforeAll(async () => {
  const note: RequestListener = (request, response) => {
    hosts.push(request.headers.host);
    response.end("served");
  };
  secure = await httpsServer(name, note);
  plain = await httpServer(note);
  fixture = await openGateFixture({ injection: fakeInjection(`${name}:${secure.port}`) });
  fixture.setPolicy(rule(name, secure.port, { methods: ["GET"] }), rule(name, plain.port));
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await secure[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
});

async function ask(written: string, isSecure: boolean): Promise<string> {
  hosts.length = 0;
  fixture.records.length = 0;
  const { port } = isSecure ? secure : plain;
  const socket = await fixture.open({ via: "tcp", host: name, port });
  const ca = readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8");
  const program = isSecure ? await startTls(socket, name, ca, ["http/1.1"]) : socket;
  program.write(`GET /x HTTP/1.1\r\nHost: ${written}\r\nConnection: close\r\n\r\n`, "latin1");
  return await readAll(program);
}

describe.each([true, false])("a Host header, in TLS: %s", (isSecure) => {
  const port = (): number => (isSecure ? secure : plain).port;

  it("goes to the server as it is where it is the judged name", async () => {
    for (const written of [name, `${name}:${port()}`]) {
      expect(await ask(written, isSecure)).toContain("served");
      expect(hosts).toEqual([written]);
    }
  });

  it.each(["API.example.org", "api.example.org.", "\u00aapi.example.org", "\u00aapi.example.com"])(
    "goes to the server as the judged name, or not at all, where it is written %j",
    async (written) => {
      const canonical = written.endsWith(".com") ? undefined : name;
      for (const end of ["", `:${port()}`, `:${String(port()).padStart(5, "0")}`]) {
        const answer = await ask(written + end, isSecure);
        const record = await fixture.waitForRecord(({ path }) => path === "/x");
        if (canonical === undefined) {
          expect(answer).toContain('"reason":"name_mismatch"');
          expect(hosts).toEqual([]);
          expect(record).toMatchObject({ verdict: "deny", reason: "name_mismatch" });
        } else {
          expect(answer).toContain("served");
          expect(hosts).toEqual([end === "" ? name : `${name}:${port()}`]);
          expect(record).toMatchObject({ verdict: "allow", host: name });
        }
      }
    },
  );
});

it("goes to the server as the judged name over HTTP/2, too", async () => {
  hosts.length = 0;
  const socket = await fixture.open({ via: "tcp", host: name, port: secure.port });
  const ca = readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8");
  const connection = await startTls(socket, name, ca, ["h2"]);
  const session = connectHttp2(`https://${name}`, { createConnection: () => connection });
  for (const written of [name, "API.example.org."]) {
    const stream = session.request({ ":path": "/x", ":authority": written });
    stream.resume();
    await new Promise((resolve) => stream.once("close", resolve));
  }
  session.destroy();
  expect(hosts).toEqual([name, name]);
});
