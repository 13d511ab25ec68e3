/**
 * Stands between a daemon and a container engine, passes everything on, and fails at one chosen request: before the
 * engine hears of it, or after the engine has done it and before its answer is heard. After that it can stay away, as an
 * engine does that was stopped at this very moment.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";

export interface Cut {
  readonly method: string;
  readonly path: RegExp;
  readonly moment: "before" | "after";
  /** Only of a container that was started since the cut was chosen: the daemon also asks about those that it removes. */
  readonly isStarted?: boolean;
  /** Answers nothing from then on, until `comeBack`. */
  readonly staysAway?: boolean;
}

export interface EngineProxy extends AsyncDisposable {
  readonly socket: string;
  /** The next request of this kind fails, once. */
  cutAt(cut: Cut): void;
  /** Every answer to this path has these members in place of the engine's. */
  change(path: RegExp, members: Readonly<Record<string, unknown>>): void;
  /** How often this path was asked for. */
  timesAsked(path: RegExp): number;
  /** Whether the cut has come. */
  isCut(): boolean;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

export async function startEngineProxy(engine: string): Promise<EngineProxy> {
  const directory = mkdtempSync("/tmp/abx-p-");
  chmodSync(directory, 0o755);
  const socket = join(directory, "e.sock");
  const changes: { path: RegExp; members: Readonly<Record<string, unknown>> }[] = [];
  const open = new Set<Socket>();
  const asked: string[] = [];
  let cut: Cut | undefined;
  let isCut = false;
  const started = new Set<string>();

  const fail = (client: ServerResponse): void => {
    isCut = true;
    if (cut?.staysAway) void goAway();
    cut = undefined;
    client.destroy();
  };
  const serve = (incoming: IncomingMessage, client: ServerResponse): void => {
    const { method = "", url = "", headers } = incoming;
    asked.push(url);
    const [, container = ""] = /\/containers\/([0-9a-f]{64})\//.exec(url) ?? [];
    const isMeant = cut?.isStarted !== true || started.has(container);
    const isHit = cut !== undefined && cut.method === method && cut.path.test(url) && isMeant;
    if (method === "POST" && url.endsWith("/start")) started.add(container);
    if (isHit && cut?.moment === "before") return fail(client);
    const members = changes.find(({ path }) => path.test(url))?.members;
    const upstream = request({ socketPath: engine, method, path: url, headers }, (answer) => {
      if (isHit || members !== undefined) {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () => {
          if (isHit) return fail(client);
          const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
          client.writeHead(answer.statusCode ?? 502, { "content-type": "application/json" });
          client.end(JSON.stringify({ ...body, ...members }));
        });
        return;
      }
      client.writeHead(answer.statusCode ?? 502, answer.headers);
      client.flushHeaders();
      answer.on("close", () => answer.complete || client.destroy()).pipe(client);
    });
    upstream.on("error", () => client.destroy());
    client.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  };

  let server: Server | undefined;
  const listen = async (): Promise<void> => {
    const opened = createServer(serve);
    server = opened;
    opened.on("connection", (connection: Socket) => {
      open.add(connection);
      connection.on("close", () => open.delete(connection));
    });
    await new Promise<void>((resolve) => opened.listen(socket, resolve));
    chmodSync(socket, 0o666);
  };
  const goAway = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    const closed = new Promise<void>((resolve) => closing?.close(() => resolve()) ?? resolve());
    for (const connection of open) connection.destroy();
    await closed;
  };
  await listen();
  return {
    socket,
    cutAt(next) {
      cut = next;
      isCut = false;
      started.clear();
    },
    change: (path, members) => void changes.push({ path, members }),
    timesAsked: (path) => asked.filter((url) => path.test(url)).length,
    isCut: () => isCut,
    goAway,
    comeBack: listen,
    async [Symbol.asyncDispose]() {
      await goAway();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
