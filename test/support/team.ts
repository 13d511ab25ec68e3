/** A daemon at which a team signs in, the team's real provider on loopback, and people with browsers, scripted. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import { Browser } from "../../src/services/connections/browser.fixture.ts";
import {
  TeamProvider,
  teamClientId,
  teamClientSecret,
} from "../../src/services/identity/provider.fixture.ts";
import { type TestDaemon, startDaemon } from "./daemon.ts";

const json = { "content-type": "application/json" };

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly error?: { code: string; message: string } };
  readonly headers: Headers;
}

/** One browser at the dashboard: cookies of its own, and the page's half of a session. */
export class Visitor {
  readonly origin: string;
  readonly #cookies = new Map<string, string>();
  key: string | undefined;

  constructor(origin: string) {
    this.origin = origin;
  }

  /** The values that another browser would have to steal. */
  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return {
      origin: this.origin,
      ...(cookie === "" ? {} : { cookie }),
      ...omitUndefined({ "agentbox-key": this.key }),
      ...more,
    };
  }

  async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(this.origin + path, {
      method,
      headers: this.headers(method === "GET" ? {} : json),
      body: body === undefined ? null : JSON.stringify(body),
      redirect: "manual",
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (name !== undefined) this.#cookies.set(name, value!);
    }
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: parsed(text) };
  }

  async begin(): Promise<{ readonly url: string; readonly secret: string }> {
    const { status, body } = await this.ask("POST", "/auth/begin", {});
    if (status !== 200) throw new Error(`The sign-in did not begin: ${JSON.stringify(body)}`);
    return body as unknown as { url: string; secret: string };
  }

  /** Signs in at the provider; what the page would send. */
  async answerOf(login: string): Promise<Record<string, string>> {
    const { url, secret } = await this.begin();
    const callback = await new Browser(login).agreeUntilCallback(url);
    return { ...Object.fromEntries(callback.searchParams), secret };
  }

  async finish(answer: Readonly<Record<string, string>>): Promise<Answer> {
    const result = await this.ask("POST", "/auth/finish", answer);
    if (result.status === 200) this.key = String(result.body["key"]);
    return result;
  }

  async signIn(login: string): Promise<Answer> {
    return this.finish(await this.answerOf(login));
  }

  /** An event stream that stays open; `ended` resolves when the daemon closes it. */
  async follow(path = "/v1/events?follow=true"): Promise<{ readonly ended: Promise<string> }> {
    const answer = await fetch(this.origin + path, { headers: this.headers() });
    if (answer.status !== 200) throw new Error(`The stream was refused: ${await answer.text()}`);
    return { ended: readToEnd(answer) };
  }
}

function parsed(text: string): Answer["body"] {
  try {
    return JSON.parse(text) as Answer["body"];
  } catch {
    return { text };
  }
}

/** Everything that came, however it ended. */
async function readToEnd(answer: Response): Promise<string> {
  let text = "";
  try {
    for await (const chunk of answer.body!) text += Buffer.from(chunk as Uint8Array).toString();
  } catch {
    // Cut off, as expected.
  }
  return text;
}

export interface TestTeam extends AsyncDisposable {
  readonly daemon: TestDaemon;
  readonly provider: TeamProvider;
  readonly origin: string;
  visitor(): Visitor;
  /** A person who has signed in. */
  person(login: string): Promise<Visitor>;
  /** [web.sign_in] with these lines besides its usual ones; `web` is for [web] itself. */
  configure(signIn: string, web?: string): void;
  /** Sign-in for a team is turned off. */
  unconfigure(): void;
}

export async function startTeam(): Promise<TestTeam> {
  const daemon = await startDaemon();
  const { origin } = new URL((await daemon.client.openLink()).url);
  const provider = await TeamProvider.open([`${origin}/auth/callback`], `${origin}/auth/logout-notice`);
  const config = join(daemon.home, "config.toml");
  const secretFile = join(daemon.scratch, "client-secret");
  writeFileSync(secretFile, `${teamClientSecret}\n`, { mode: 0o600 });
  appendFileSync(config, "");
  const before = readFileSync(config, "utf8");
  const configure = (signIn: string, web = ""): void =>
    writeFileSync(
      config,
      `${before}\n[web]\n${web}\n[web.sign_in]\nname = "the team"\nissuer = "${provider.issuer}"\nclient_id = "${teamClientId}"\nclient_secret_file = "${secretFile}"\nadmin_group = "admins"\n${signIn}\n`,
    );
  configure("");
  return {
    daemon,
    provider,
    origin,
    visitor: () => new Visitor(origin),
    async person(login) {
      const visitor = new Visitor(origin);
      const { status, body } = await visitor.signIn(login);
      if (status !== 200) throw new Error(`${login} could not sign in: ${JSON.stringify(body)}`);
      return visitor;
    },
    configure,
    unconfigure: () => writeFileSync(config, before),
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await daemon[Symbol.asyncDispose]();
    },
  };
}
