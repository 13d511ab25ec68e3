/**
 * Found by attack: answers of an allowed but hostile server that threw uncaught errors, or left a request without end
 * and without a record. Each now ends in one defined way and with one record.
 */
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  httpsServer,
  openGateFixture,
  rule,
  startTls,
} from "../../src/services/gate/fixtures/gate.fixture.ts";

const name = "api.example.org";
const fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

const answers = [
  { what: "an ordinary answer (the control)", said: fine, status: 200 },
  {
    what: "a hint that is no link",
    said: `HTTP/1.1 103 Early Hints\r\nLink: no link\r\n\r\n${fine}`,
    status: 200,
  },
  {
    what: "headers twice that HTTP/2 knows once",
    said: "HTTP/1.1 200 OK\r\nETag: 1\r\nETag: 2\r\nDate: x\r\nDate: y\r\nContent-Length: 2\r\n\r\nok",
    status: 200,
  },
  {
    what: "trailers that HTTP/2 forbids",
    said: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nConnection: x\r\nKeep-Alive: 1\r\nETag: 1\r\nETag: 2\r\n\r\n",
    status: 200,
  },
  {
    what: "another protocol that nobody asked for",
    said: "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    status: 502,
  },
];

describe("a hostile server", () => {
  it.each(answers)("is survived when it gives $what", async ({ said, status }) => {
    await using server = await httpsServer(name, (_, response) => void response.socket?.end(said));
    await using fixture = await openGateFixture();
    fixture.setPolicy(rule(name, server.port, { inspect: true }));
    const socket = await fixture.open({ via: "tcp", host: name, port: server.port });
    const ca = readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8");
    const secure = await startTls(socket, name, ca, ["h2"]);
    const session = connectHttp2(`https://${name}`, { createConnection: () => secure });
    session.on("error", () => undefined);
    const stream = session.request({ ":path": "/x", ":authority": `${name}:${server.port}` });
    stream.end();
    const answered = await new Promise((resolve, reject) => {
      stream.on("error", reject).on("close", () => reject(new Error("closed without an answer")));
      stream.on("response", (head) => stream.resume().on("end", () => resolve(head[":status"])));
    });
    expect(answered).toBe(status);
    await fixture.waitForRecord();
    expect(fixture.records).toEqual([
      expect.objectContaining({ verdict: status === 200 ? "allow" : "deny", path: "/x" }),
    ]);
    session.destroy();
  });
});
