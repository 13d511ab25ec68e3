/** Receivers of notices: a web server that keeps what it is sent, and a mail server. */
import { once } from "node:events";
import { type IncomingHttpHeaders, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export interface ReceivedPost {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly value: Record<string, unknown>;
}

export interface WebReceiver extends AsyncDisposable {
  readonly origin: string;
  readonly posts: ReceivedPost[];
  /** Its answer from now on; a redirect leads to `location`. */
  status: number;
  location: string | undefined;
}

export async function startWebReceiver(): Promise<WebReceiver> {
  const posts: ReceivedPost[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const value = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
      posts.push({ path: request.url ?? "", headers: request.headers, value });
      const { status, location } = receiver;
      response.writeHead(status, location === undefined ? {} : { location });
      response.end("the answer quotes canary-answer");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: WebReceiver = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    status: 200,
    location: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly user: string | undefined;
  readonly isEncrypted: boolean;
}

export interface MailReceiver extends AsyncDisposable {
  readonly port: number;
  readonly mails: ReceivedMail[];
}

export async function startMailReceiver(
  account: { readonly user: string; readonly password: string } | undefined,
  tls?: { readonly key: string; readonly cert: string },
): Promise<MailReceiver> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    ...tls,
    authOptional: account === undefined,
    allowInsecureAuth: true,
    disabledCommands: [...(tls ? [] : ["STARTTLS"]), ...(account ? [] : ["AUTH"])],
    onAuth({ username, password }, _session, done) {
      const isRight = username === account?.user && password === account?.password;
      done(
        isRight ? null : new Error("535 wrong password canary-answer"),
        isRight ? { user: username } : undefined,
      );
    },
    onData(stream, { envelope, user, secure }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = envelope;
        mails.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString("utf8"),
          user: typeof user === "string" ? user : undefined,
          isEncrypted: secure,
        });
        done();
      });
    },
  });
  const listening = server.listen(0, "127.0.0.1");
  await once(listening, "listening");
  return {
    port: (listening.address() as AddressInfo).port,
    mails,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
