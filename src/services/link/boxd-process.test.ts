import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { afterAll, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import { encodeFrame, encodeJson, frameKind } from "../../contract/link/codec.ts";
import { FixtureBox, removeBuild } from "./box.fixture.ts";

afterAll(removeBuild);

test("without a config boxd ends with 70", async () => {
  await using box = await FixtureBox.listen();
  await rm(`${box.linkDir}/box.json`);
  await box.boot();
  expect(await once(box.boxd, "exit")).toEqual([70, null]);
});

test("a TERM to boxd ends what runs in the box, and then boxd", async () => {
  await using box = await FixtureBox.start();
  const spec = { argv: ["sleep", "1000"], env: {}, terminal: false, cols: 80, rows: 24 };
  await box.link.startSession("main", spec);
  box.boxd.kill("SIGTERM");
  expect(await once(box.boxd, "exit")).toEqual([0, null]);
});

test("what the host says wrong costs the connection, and boxd dials again", async () => {
  await using box = await FixtureBox.listen();
  await box.link[Symbol.asyncDispose]();
  const answers = [
    Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
    encodeFrame(frameKind.json, Buffer.from("{")),
    encodeFrame(frameKind.data, Buffer.from("x")),
    encodeJson({ type: "nonsense" }),
  ];
  const dials: Socket[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    const answer = answers[dials.push(socket) - 1];
    if (answer) socket.write(answer);
  });
  server.listen(box.socketPath);
  await box.boot();
  await waitFor("it dialled once more than it was answered wrong", () => dials.length > answers.length);
  expect(box.boxd.exitCode).toBeNull();
  for (const socket of dials) socket.destroy();
  server.close();
  await once(server, "close");
  await box.listenAgain();
  await box.link.waitConnected(10_000);
  expect((await box.exec(["echo", "fine"])).stdout).toBe("fine\n");
});
