/**
 * Found by attack: a plain request that did not look like one at first (a strange method and a control byte before
 * the rest, a blank line ahead) was passed on as another protocol, and its Host was never compared.
 */
import { describe, expect, it } from "vitest";
import { ended, openGateFixture, rule, tcpServer } from "../../src/services/gate/fixtures/gate.fixture.ts";

const name = "www.example.org";
const rest = " HTTP/1.1\r\nHost: other.example.org\r\n\r\n";

async function send(parts: readonly string[]): Promise<string> {
  const heard: string[] = [];
  await using server = await tcpServer((peer) => {
    peer.on("data", (chunk) => heard.push(chunk.toString("latin1"))).on("end", () => peer.end());
  });
  await using fixture = await openGateFixture();
  fixture.setPolicy(rule(name, server.port));
  const socket = await fixture.open({ via: "tcp", host: name, port: server.port });
  for (const part of parts)
    await new Promise((resolve) => socket.write(Buffer.from(part, "latin1"), resolve));
  socket.end();
  await ended(socket);
  await fixture.waitForRecord();
  return heard.join("");
}

describe("a request in disguise", () => {
  it.each([
    { what: "a form feed in its path", parts: ["FOO /\x0c", rest] },
    { what: "a delete character in its path", parts: ["PURGE /\x7f", rest] },
    { what: "a blank line before it", parts: [` \r\nGET /${rest}`] },
    { what: "a tab after its method", parts: [`PROPFIND\t/\r\nGET /${rest}`] },
  ])("is refused with $what", async ({ parts }) => {
    expect(await send(parts)).toBe("");
  });

  it.each(["SSH-2.0-test\r\n", "\0\x01binary", "0032git-upload-pack /project.git\0host=example.org\0"])(
    "has the control: another protocol passes (%j)",
    async (bytes) => {
      expect(await send([bytes])).toBe(bytes);
    },
  );
});
