import { mkdtemp } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { deferred } from "../../../base/deferred.ts";
import { decodeJson, encodeFrame, encodeJson, FrameReader, frameKind } from "../../../contract/link/codec.ts";
import { ControlMessage, Hello, type StreamOp, StreamOutput } from "../../../contract/link/messages.ts";
import { removeTree } from "../../../host/files.ts";
import type { Runtime } from "../../../ports/runtime.ts";
import { createMemoryModule } from "./index.ts";

/** The host's end in a few lines: welcomes the control connection and collects streams. */
class Host {
  readonly messages: unknown[] = [];
  readonly streams = new Map<
    string,
    { json: unknown[]; output: string; socket: Socket; closed: Promise<void> }
  >();
  control = deferred<Socket>();
  #changed = deferred<void>();
  readonly #sockets = new Set<Socket>();
  readonly server: Server = createServer((socket) => this.#accept(socket));

  #accept(socket: Socket): void {
    const reader = new FrameReader();
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    let stream: string | undefined;
    let isKnown = false;
    this.#sockets.add(socket);
    socket.on("data", (chunk) => {
      for (const { kind, payload } of reader.push(chunk)) {
        if (!isKnown) {
          isKnown = true;
          const hello = Hello.parse(decodeJson(payload));
          if (hello.role === "stream")
            this.streams.set((stream = hello.id), { json: [], output: "", socket, closed });
          else {
            socket.write(encodeJson({ type: "welcome", protocol: 1 }));
            this.control.resolve(socket);
          }
        } else if (stream === undefined) this.messages.push(ControlMessage.parse(decodeJson(payload)));
        else if (kind === frameKind.json)
          this.streams.get(stream)!.json.push(StreamOutput.parse(decodeJson(payload)));
        else this.streams.get(stream)!.output += Buffer.from(payload).toString();
      }
      this.#changed.resolve();
      this.#changed = deferred();
    });
  }

  async until<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await this.#changed.promise;
    }
  }

  async exec(id: string, argv: string[], input?: string): Promise<{ json: unknown[]; output: string }> {
    const op: StreamOp = { kind: "exec", argv, env: {} };
    (await this.control.promise).write(encodeJson({ type: "open", id, op }));
    const stream = await this.until(() => this.streams.get(id));
    if (input !== undefined) stream.socket.write(encodeFrame(frameKind.data, Buffer.from(input)));
    if (input !== undefined) stream.socket.write(encodeFrame(frameKind.eof, new Uint8Array()));
    await stream.closed;
    return { json: stream.json, output: stream.output };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

let root: string;
let host: Host;
let runtime: Runtime;

const listen = async (): Promise<void> => {
  host = new Host();
  await new Promise<void>((resolve) => host.server.listen(join(root, "link.sock"), resolve));
};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "agentbox-memory-"));
  await listen();
  runtime = await createMemoryModule().open({ boxesDir: root });
  const dirs = { runtime: root, link: root, home: root, workspace: root };
  const owner = { uid: 1000, gid: 1000 };
  await runtime.start({
    name: "demo",
    owner,
    dirs,
    tools: { node: "", boxd: "" },
    mounts: [],
    resources: { required: [] },
  });
});
afterEach(async () => {
  await runtime.remove("demo");
  await host.close();
  await removeTree(root);
});

it("runs its few commands over the real protocol, and no other", async () => {
  const exit = (code: number): unknown => ({ type: "exit", code, signal: null, timedOut: false });
  expect(await host.exec("1", ["echo", "hello", "box"])).toEqual({
    json: [{ type: "started" }, exit(0)],
    output: "hello box\n",
  });
  expect((await host.exec("2", ["false"])).json).toContainEqual(exit(1));
  expect((await host.exec("3", ["exit", "42"])).json).toContainEqual(exit(42));
  expect((await host.exec("4", ["cat"], "typed")).output).toBe("typed");
  for (const name of ["bash", "constructor", "__proto__"]) {
    expect((await host.exec(name, [name])).json).toMatchObject([{ type: "failed", code: "exec.not_found" }]);
  }
});

it("tells its health, and ends when it is asked to shut down", async () => {
  const ended = deferred<unknown>();
  runtime.onEnd(ended.resolve);
  const control = await host.control.promise;
  control.write(encodeJson({ type: "request", id: 1, method: "health", params: {} }));
  await host.until(() => host.messages.find((message) => (message as { id?: number }).id === 1));
  control.write(encodeJson({ type: "request", id: 2, method: "shutdown", params: { graceMs: 0 } }));
  expect(await ended.promise).toEqual({ name: "demo", phase: "stopped", exitCode: 0 });
});

it("keeps a session going while the host is away, and tells it again afterwards", async () => {
  const spec = { argv: ["sleep", "60"], env: {}, terminal: false, cols: 80, rows: 24 };
  const start = { type: "request", id: 7, method: "session.start", params: { session: "main", spec } };
  (await host.control.promise).write(encodeJson(start));
  await host.until(() => host.messages.find((message) => (message as { id?: number }).id === 7));
  await host.close();
  await listen();
  await host.control.promise;
  const health = await host.until(() =>
    host.messages.find((message) => (message as { type: string }).type === "health"),
  );
  expect(health).toMatchObject({ health: { sessions: [{ id: "main", state: "running" }] } });
});
