/** A real supervisor with a program behind it, and previews of it behind a plain server; who is allowed is up to the test. */
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import type { Box } from "../../src/contract/box.ts";
import type { Core } from "../../src/core/context.ts";
import { systemClock } from "../../src/host/clock.ts";
import { FixtureBox, removeBuild } from "../../src/services/link/box.fixture.ts";
import { Previews } from "../../src/daemon/preview/previews.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

interface Opening {
  readonly port?: number;
  readonly mayAgree?: boolean;
  readonly agreed?: string | undefined;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;
const greet: Listener = (_request, response) => response.end("hello from the box");

export class PreviewGround implements AsyncDisposable {
  answer: Listener = greet;
  isAllowed = true;
  box = {
    name: "shop",
    incarnation: "one",
    state: { phase: "running" },
    spec: { secrets: [], mounts: [] },
  } as unknown as Box;
  readonly seen: IncomingMessage[] = [];
  readonly events: { type: string; data: unknown }[] = [];
  #ends: (() => void)[] = [];
  #lives = 0;
  readonly #fixture: FixtureBox;
  readonly #program: Server;
  readonly #front: Server;
  readonly #previews: Previews;

  static async start(): Promise<PreviewGround> {
    const ground = new PreviewGround(await FixtureBox.start());
    for (const server of [ground.#program, ground.#front]) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    return ground;
  }

  private constructor(fixture: FixtureBox) {
    this.#fixture = fixture;
    this.#program = createServer((request, response) => {
      this.seen.push(request);
      this.answer(request, response);
    });
    const sockets = new WebSocketServer({ server: this.#program });
    sockets.on("connection", (socket) =>
      socket.on("message", (data: Buffer) => socket.send(`echo ${data.toString()}`)),
    );
    const webPort = () => this.webPort;
    this.#previews = new Previews(this.#core(), {
      get port() {
        return webPort();
      },
      ensure: async () => undefined,
    });
    this.#front = createServer((request, response) => {
      if (this.#previews.owns(request)) void this.#previews.answer(request, response, () => undefined);
      else response.writeHead(418).end("the dashboard");
    });
    this.#front.on("upgrade", (request, socket, head) =>
      this.#previews.upgrade({ request, socket, head }, () => undefined),
    );
  }

  get port(): number {
    return (this.#program.address() as AddressInfo).port;
  }

  get webPort(): number {
    return (this.#front.address() as AddressInfo).port;
  }

  host(port = this.port, name = "shop"): string {
    return `p${port}-${name}.localhost:${this.webPort}`;
  }

  reset(): void {
    this.answer = greet;
    this.isAllowed = true;
    this.seen.length = 0;
    this.events.length = 0;
    this.box = {
      ...this.box,
      incarnation: (this.#lives += 1).toString(),
      spec: { secrets: [], mounts: [] } as unknown as Box["spec"],
    };
  }

  /** Called when the viewer's session ends. */
  endAll(): void {
    for (const end of this.#ends) end();
  }

  async ask(
    path: string,
    headers: Record<string, string | string[]> = {},
    { method = "GET", body }: { method?: string; body?: string } = {},
  ): Promise<Answer> {
    const all = { host: this.host(), ...headers };
    const asked = httpRequest({ port: this.webPort, host: "127.0.0.1", path, method, headers: all });
    asked.end(body);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode!, headers: response.headers, text };
  }

  async pass(port = this.port): Promise<string> {
    const { url } = await this.open({ port });
    return new URL(url).hash.slice("#pass=".length);
  }

  /** As the route does it. */
  open({ port = this.port, mayAgree = true, agreed }: Opening): Promise<{ url: string }> {
    const holder = {
      who: "owner",
      isAllowed: () => this.isAllowed,
      hold: (end: () => void) => {
        this.#ends.push(end);
        return () => (this.#ends = this.#ends.filter((one) => one !== end));
      },
    };
    return this.#previews.openFor({ holder, box: this.box, port, mayAgree, agreed });
  }

  claim(pass: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.ask(
      "/.agentbox/enter",
      { origin: `http://${this.host()}`, "content-type": "application/json", ...headers },
      { method: "POST", body: JSON.stringify({ pass }) },
    );
  }

  async cookie(port = this.port): Promise<string> {
    const host = this.host(port);
    const { headers } = await this.claim(await this.pass(port), { host, origin: `http://${host}` });
    return headers["set-cookie"]![0]!.split(";")[0]!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#front, this.#program]) server.close().closeAllConnections();
    await this.#fixture[Symbol.asyncDispose]();
    await removeBuild();
  }

  /** As much of it as previews use. */
  #core(): Core {
    const store = { findBox: async (name: string) => (name === this.box.name ? this.box : undefined) };
    return {
      ports: { clock: systemClock, store },
      live: new Map([["shop", { link: this.#fixture.link }]]),
      getBox: async () => this.box,
      note: async (type: string, _box: Box, data: unknown) => void this.events.push({ type, data }),
      background: (_what: string, task: Promise<unknown>) => void task.catch(() => undefined),
    } as unknown as Core;
  }
}
