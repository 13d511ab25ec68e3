import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type WebReceiver,
  startMailReceiver,
  startWebReceiver,
} from "../../../test/support/notice-receivers.ts";
import type { NoticeMessage } from "../../ports/notice-sender.ts";
import { openNoticeSender } from "./index.ts";

const message: NoticeMessage = {
  title: "shop asks",
  body: "It wants to reach <!channel> a.test & more.",
  isUrgent: true,
  link: "http://127.0.0.1:7420/inbox",
};
const sender = openNoticeSender({ timeoutMs: 5_000 });

describe("by the web", () => {
  let web: WebReceiver;
  beforeEach(async () => {
    web = await startWebReceiver();
  });
  afterEach(() => web[Symbol.asyncDispose]());
  const slack = (path = "/services/T/B/canary-address") =>
    ({ kind: "slack", address: `${web.origin}${path}`, mayBePrivate: true }) as const;

  it("a webhook gets one text in Slack's form, in which a box calls nobody", async () => {
    await sender.send(slack(), message);
    expect(web.posts).toMatchObject([
      {
        path: "/services/T/B/canary-address",
        value: {
          text: "*shop asks*\nIt wants to reach &lt;!channel&gt; a.test &amp; more.\n<http://127.0.0.1:7420/inbox|Open>",
        },
      },
    ]);
  });

  it("an ntfy topic gets a message with title, priority and link, and its token", async () => {
    await sender.send(
      { kind: "ntfy", address: `${web.origin}/base/agents`, token: "tk_canary", mayBePrivate: true },
      { ...message, title: "one\r\nX-Evil: 1" },
    );
    const [post] = web.posts;
    expect(post).toMatchObject({
      path: "/base/",
      headers: { authorization: "Bearer tk_canary" },
      value: { topic: "agents", title: "one\r\nX-Evil: 1", priority: 4, click: message.link },
    });
    expect(post?.headers["x-evil"]).toBeUndefined();
  });

  it.each([
    [404, "notice.refused"],
    [410, "notice.refused"],
    [429, "notice.undeliverable"],
    [503, "notice.undeliverable"],
  ])("an answer %i is %s, which quotes neither answer nor address", async (status, code) => {
    web.status = status;
    const error = (await sender.send(slack(), message).catch((e: unknown) => e)) as Error;
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(String(status));
    expect(`${error.message} ${error.stack}`).not.toMatch(/canary/);
  });

  it("a redirect is not followed", async () => {
    await using other = await startWebReceiver();
    web.status = 307;
    web.location = `${other.origin}/elsewhere`;
    await expect(sender.send(slack(), message)).rejects.toMatchObject({ code: "notice.refused" });
    expect(other.posts).toEqual([]);
  });

  it("who may only ask reaches no private address, by number or by name", async () => {
    // Control: the same addresses are reached where they may be private.
    for (const host of ["127.0.0.1", "localhost"]) {
      const address = `http://${host}:${new URL(web.origin).port}/x`;
      await sender.send({ kind: "slack", address, mayBePrivate: true }, message);
      await expect(
        sender.send({ kind: "slack", address, mayBePrivate: false }, message),
      ).rejects.toMatchObject({ code: "notice.refused" });
    }
    for (const address of [
      "http://[::1]:1/",
      "http://[::ffff:127.0.0.1]:1/",
      "http://169.254.169.254/",
      "http://0/",
    ])
      await expect(
        sender.send({ kind: "slack", address, mayBePrivate: false }, message),
      ).rejects.toMatchObject({ code: "notice.refused" });
    expect(web.posts).toHaveLength(2);
  });

  it("a server that never answers is given up", async () => {
    const { createServer } = await import("node:net");
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const quick = openNoticeSender({ timeoutMs: 50 });
    const target = { kind: "slack", address: `http://127.0.0.1:${port}/`, mayBePrivate: true } as const;
    await expect(quick.send(target, message)).rejects.toMatchObject({ code: "notice.undeliverable" });
    silent.close();
  });
});

describe("by mail", () => {
  const to = { kind: "email", address: "ada@example.org", mayBePrivate: false } as const;
  const from = "AgentBox <agents@example.org>";
  let dir: string;
  let tls: { key: string; cert: string };
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "ab-mail-"));
    const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
    const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
    const form = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"];
    execFileSync("openssl", ["req", ...form, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
    tls = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
    process.env["NODE_EXTRA_CA_CERTS"] = cert;
  });
  afterEach(() => {
    delete process.env["NODE_EXTRA_CA_CERTS"];
    rmSync(dir, { recursive: true, force: true });
  });

  it("goes out encrypted, with the account of the server", async () => {
    await using server = await startMailReceiver({ user: "box", password: "pw" }, tls);
    const smtp = { host: "127.0.0.1", port: server.port, from, user: "box", secret: "pw" };
    await sender.send(to, message, smtp);
    const [mail] = server.mails;
    expect(mail).toMatchObject({
      from: "agents@example.org",
      to: ["ada@example.org"],
      user: "box",
      isEncrypted: true,
    });
    expect(mail?.text).toMatch(/^Subject: \[AgentBox\] shop asks\r$/m);
    expect(mail?.text).toContain("http://127.0.0.1:7420/inbox");
  });

  it("is never sent in the clear, but to a server on this machine that is named so", async () => {
    await using server = await startMailReceiver(undefined);
    const smtp = { host: "127.0.0.1", port: server.port, from };
    await expect(sender.send(to, message, smtp)).rejects.toMatchObject({ code: "notice.refused" });
    expect(server.mails).toEqual([]);
    await sender.send(to, message, { ...smtp, tls: "none" });
    expect(server.mails).toMatchObject([{ isEncrypted: false }]);
  });

  it("is not given to a server that the host does not trust", async () => {
    await using server = await startMailReceiver({ user: "box", password: "pw" }, tls);
    delete process.env["NODE_EXTRA_CA_CERTS"];
    const smtp = { host: "127.0.0.1", port: server.port, from, user: "box", secret: "pw" };
    await expect(sender.send(to, message, smtp)).rejects.toMatchObject({ code: "notice.undeliverable" });
    expect(server.mails).toEqual([]);
  });

  it("a title cannot add a header, and a wrong password is final and quoted nowhere", async () => {
    await using server = await startMailReceiver({ user: "box", password: "pw" }, tls);
    const smtp = { host: "127.0.0.1", port: server.port, from, user: "box", secret: "pw" };
    await sender.send(to, { ...message, title: "a\r\nBcc: eve@example.org" }, smtp);
    expect(server.mails).toMatchObject([{ to: ["ada@example.org"] }]);
    expect(server.mails[0]?.text).not.toMatch(/^Bcc:/m);
    const error = (await sender
      .send(to, message, { ...smtp, secret: "canary-password" })
      .catch((e: unknown) => e)) as Error;
    expect(error).toMatchObject({ code: "notice.refused" });
    expect(`${error.message} ${error.stack}`).not.toMatch(/canary/);
  });

  it("needs a mail server", async () => {
    await expect(sender.send(to, message)).rejects.toMatchObject({ code: "notice.refused" });
  });
});
