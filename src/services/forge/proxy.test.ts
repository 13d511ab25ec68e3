import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type Server, createServer, request as httpRequest } from "node:http";
import { type Socket, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GitHttp, startGitHttp } from "../../../test/support/git-http.ts";
import { type GithubApi, fakeGithubApi } from "../../../test/support/github-api.ts";
import { openForges } from "./index.ts";

const token = "ghp_canary";
const credential = { username: "x-access-token", password: token };
const order = {
  forge: "github",
  branch: "agentbox/one",
  base: "main",
  title: "T",
  body: "",
  isDraft: false,
} as const;

let dir: string;
let plain: GitHttp;
let secure: GitHttp;
let api: GithubApi;
let proxy: Server;
let seen: string[];

/** As a company has one: plain requests are sent on, everything else is tunnelled. */
function makeProxy(): Server {
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const { pathname, search, hostname, port } = new URL(request.url!);
    const { "proxy-authorization": _a, "proxy-connection": _c, ...headers } = request.headers;
    const onward = httpRequest(
      { host: hostname, port, path: pathname + search, method: request.method, headers },
      (answer) => answer.pipe(response.writeHead(answer.statusCode!, answer.headers)),
    );
    request.pipe(onward);
  });
  server.on("connect", (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"]}`);
    const [host, port] = request.url!.split(":");
    const onward = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  return server;
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "ab-proxy-"));
  const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const form = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"];
  execFileSync("openssl", ["req", ...form, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
  process.env["NODE_EXTRA_CA_CERTS"] = cert;
  seen = [];
  api = fakeGithubApi({ token, repository: "shop/app", hasBranch: async () => true });
  const tls = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  plain = await startGitHttp({ password: token });
  secure = await startGitHttp({ password: token, tls, other: (q, a) => api.answer(q, a) });
  await plain.createRepository("shop/app.git");
  proxy = makeProxy();
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  delete process.env["NODE_EXTRA_CA_CERTS"];
  proxy.closeAllConnections();
  proxy.close();
  await plain[Symbol.asyncDispose]();
  await secure[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

const proxyUrl = () => `http://me:secret@127.0.0.1:${(proxy.address() as { port: number }).port}`;

describe("a proxy that everything must go through", () => {
  it("carries git and the API, with its own credential", async () => {
    const forges = openForges({ upstreamProxy: proxyUrl() });
    await forges.look({ url: `${plain.origin}/shop/app.git`, credential }, ["main"]);
    expect(seen.some((line) => line.startsWith(`GET ${plain.origin}/shop/app.git/info/refs`))).toBe(true);
    const url = `${secure.origin}/shop/app.git`;
    expect(await forges.openPullRequest({ ...order, url, credential })).toMatchObject({ number: 1 });
    const login = Buffer.from("me:secret").toString("base64");
    expect(seen).toContain(`CONNECT ${new URL(secure.origin).host} Basic ${login}`);
  });

  it("is named by no error", async () => {
    const forges = openForges({ upstreamProxy: "http://me:canary-password@127.0.0.1:1" });
    const remote = { url: `${secure.origin}/shop/app.git`, credential };
    for (const attempt of [forges.openPullRequest({ ...order, ...remote }), forges.look(remote, ["main"])]) {
      const error = (await attempt.catch((e: unknown) => e)) as Error;
      expect(error).toMatchObject({ code: "push.failed" });
      expect(error.message).not.toMatch(/canary/);
    }
  });

  it("is not needed: a server that the host does not trust is refused all the same", async () => {
    const forges = openForges({});
    const remote = { url: `${secure.origin}/shop/app.git`, credential };
    expect(await forges.openPullRequest({ ...order, ...remote })).toMatchObject({ number: 1 });
    delete process.env["NODE_EXTRA_CA_CERTS"];
    await expect(forges.openPullRequest({ ...order, ...remote })).rejects.toMatchObject({
      code: "push.failed",
    });
    await expect(forges.look(remote, ["main"])).rejects.toMatchObject({ code: "push.failed" });
    expect(secure.requests.filter(({ path }) => path.includes("info/refs"))).toEqual([]);
  });
});
