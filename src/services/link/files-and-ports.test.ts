import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import type { StreamOp, StreamOutput } from "../../contract/link/messages.ts";
import { collect, FixtureBox, removeBuild } from "./box.fixture.ts";

let box: FixtureBox;
beforeAll(async () => {
  box = await FixtureBox.start();
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await removeBuild();
});

const ask = async (op: StreamOp) => collect(await box.open(op));
const listedOf = (messages: readonly StreamOutput[]) =>
  messages.filter(
    (message): message is Extract<StreamOutput, { type: "listed" }> => message.type === "listed",
  );

describe("a directory", () => {
  test("is listed by name, with links as links", async () => {
    const root = join(box.workspace, "tree");
    await mkdir(join(root, "sub"), { recursive: true });
    await writeFile(join(root, "b.txt"), "bee");
    await symlink("/etc/passwd", join(root, "a-link"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    const { messages, last } = await ask({ kind: "files.list", path: "tree" });
    expect(listedOf(messages).map(({ name, kind, size, target }) => ({ name, kind, size, target }))).toEqual([
      { name: "a-link", kind: "symlink", size: 0, target: "/etc/passwd" },
      { name: "b.txt", kind: "file", size: 3, target: undefined },
      { name: "pipe", kind: "other", size: 0, target: undefined },
      { name: "sub", kind: "dir", size: 0, target: undefined },
    ]);
    expect(listedOf(messages)[1]!.mtimeMs).toBeGreaterThan(0);
    expect(last).toEqual({ type: "end", entries: 4 });
  });

  test("that is too large is cut, and says how large it is", async () => {
    await mkdir(join(box.workspace, "many"));
    execFileSync("sh", ["-c", "seq -f f%05g 1 5100 | xargs touch"], { cwd: join(box.workspace, "many") });
    const { messages, last } = await ask({ kind: "files.list", path: "many" });
    expect(listedOf(messages)).toHaveLength(5000);
    expect(listedOf(messages)[0]!.name).toBe("f00001");
    expect(last).toEqual({ type: "end", entries: 5100 });
  });
});

describe("a file", () => {
  test("is sent in parts", async () => {
    await writeFile(join(box.workspace, "ten"), "0123456789");
    const part = (offset: number, length: number) =>
      ask({ kind: "files.slice", path: "ten", offset, length });
    expect(await part(0, 4)).toMatchObject({ stdout: "0123", last: { type: "end", bytes: 4 } });
    expect(listedOf((await part(0, 4)).messages)).toMatchObject([{ name: "ten", kind: "file", size: 10 }]);
    expect(await part(4, 100)).toMatchObject({ stdout: "456789", last: { bytes: 6 } });
    expect(await part(50, 10)).toMatchObject({ stdout: "", last: { type: "end", bytes: 0 } });
  });

  test("that is no file is refused, and a pipe holds nothing up", async () => {
    execFileSync("mkfifo", [join(box.workspace, "pipe")]);
    const part = (path: string) => ask({ kind: "files.slice", path, offset: 0, length: 10 });
    expect((await part("pipe")).last).toMatchObject({ type: "failed", code: "file.exists" });
    expect((await part(".")).last).toMatchObject({ code: "file.exists" });
    expect((await part("nothing")).last).toMatchObject({ code: "file.not_found" });
  });

  test("outside of the workspace is not there for those who look, whichever way it is named", async () => {
    const outside = join(box.dir, "elsewhere");
    await mkdir(outside);
    await writeFile(join(outside, "secret"), "secret");
    await mkdir(join(box.workspace, "in"));
    await writeFile(join(box.workspace, "in", "file"), "fine");
    await symlink(outside, join(box.workspace, "out"));
    await symlink("in/file", join(box.workspace, "inner"));
    await symlink(join(outside, "secret"), join(box.workspace, "leak"));
    const part = (path: string) => ask({ kind: "files.slice", path, offset: 0, length: 100 });
    // The control: a link that stays inside is followed.
    expect((await part("inner")).stdout).toBe("fine");
    for (const path of [
      "out/secret",
      "leak",
      "../elsewhere/secret",
      join(outside, "secret"),
      "/proc/self/environ",
    ]) {
      const result = await part(path);
      expect(result.last, path).toMatchObject({ type: "failed", code: "file.unsafe_path" });
      expect(result.stdout).toBe("");
    }
    for (const path of ["out", "..", "/", "/proc/self/cwd/.."])
      expect((await ask({ kind: "files.list", path })).last, path).toMatchObject({
        code: "file.unsafe_path",
      });
  });
});

describe("a port", () => {
  const servers: Server[] = [];
  afterAll(() => servers.forEach((server) => server.close()));
  const serve = async (host: string, onConnection: (socket: Socket) => void): Promise<number> => {
    const server = createServer({ allowHalfOpen: true }, onConnection).listen(0, host);
    servers.push(server);
    await once(server, "listening");
    return (server.address() as { port: number }).port;
  };

  test("is a stream of bytes both ways, at the pace of who reads", async () => {
    const port = await serve("127.0.0.1", (socket) => socket.pipe(socket));
    const stream = await box.open({ kind: "port.open", port });
    let received = 0;
    stream.onData((chunk) => (received += chunk.length));
    const closed = new Promise<Error | undefined>((resolve) => stream.onClose(resolve));
    const chunk = Buffer.alloc(1 << 20, "x");
    for (let sent = 0; sent < 8; sent++) {
      if (!stream.write(chunk)) await new Promise<void>((resolve) => stream.onDrain(resolve));
    }
    stream.endInput();
    expect(await closed).toBeUndefined();
    expect(received).toBe(8 << 20);
  });

  test("on which nobody listens says so, and IPv6 is loopback as well", async () => {
    const port = await serve("::1", (socket) => socket.end("six"));
    expect(await ask({ kind: "port.open", port })).toMatchObject({ stdout: "six", last: { type: "end" } });
    const gone = await serve("127.0.0.1", () => undefined);
    await new Promise((resolve) => servers.pop()!.close(resolve));
    expect((await ask({ kind: "port.open", port: gone })).last).toMatchObject({ code: "port.closed" });
  });

  test("is let go when the host goes away", async () => {
    let isClosed = false;
    const port = await serve("127.0.0.1", (socket) => {
      socket.on("error", () => undefined);
      socket.on("end", () => (isClosed = true)).resume();
      socket.write("hello");
    });
    const stream = await box.open({ kind: "port.open", port });
    await new Promise<void>((resolve) => stream.onData(() => resolve()));
    expect(isClosed, "the control: it is open while the host reads").toBe(false);
    stream.close();
    await waitFor("the connection is closed", () => isClosed);
  });

  test("that somebody listens on is found, with the program", async () => {
    const port = await serve("127.0.0.1", () => undefined);
    const { messages, last } = await ask({ kind: "ports.list" });
    const found = messages.find((message) => message.type === "port" && message.port === port);
    expect(found).toMatchObject({ type: "port", address: "127.0.0.1" });
    expect(last).toEqual({ type: "end" });
  });
});

test("a stream that the box does not know is refused with a code of its own", async () => {
  expect((await ask({ kind: "teleport" } as unknown as StreamOp)).last).toMatchObject({
    type: "failed",
    code: "box.too_old",
  });
});
