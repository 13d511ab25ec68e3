import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GithubApi, fakeGithubApi } from "../../../test/support/github-api.ts";
import { openForges } from "./index.ts";

const token = "ghp_canary/0123+456=789";
const credential = { username: "x-access-token", password: token };
const forges = openForges({});

interface Listening extends AsyncDisposable {
  readonly origin: string;
}

async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const http = createServer(answer);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as { port: number };
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
    },
  };
}

let api: GithubApi;
let server: Listening;
beforeEach(async () => {
  const branches = ["main", "agentbox/one"];
  api = fakeGithubApi({ token, repository: "shop/app", hasBranch: async (name) => branches.includes(name) });
  server = await listen(api.answer);
});
afterEach(() => server[Symbol.asyncDispose]());

describe("a pull request", () => {
  const order = { forge: "github", base: "main", title: "Cache", body: "Faster.", isDraft: true } as const;
  const open = (branch: string, more: object = {}) =>
    forges.openPullRequest({ url: `${server.origin}/shop/app.git`, credential, ...order, branch, ...more });

  it("of GitHub is opened once", async () => {
    const opened = await open("agentbox/one");
    expect(opened).toEqual({ url: `${server.origin}/shop/app/pull/1`, number: 1 });
    expect(api.pulls).toEqual([
      { number: 1, head: "agentbox/one", base: "main", title: "Cache", body: "Faster.", draft: true },
    ]);
    expect(await open("agentbox/one")).toEqual(opened);
    expect(api.pulls).toHaveLength(1);
  });

  it.each([
    ["a branch that is not there", { branch: "none" }, /422/],
    [
      "a wrong credential",
      { credential: { username: "x", password: "canary-wrong" } },
      /Bad credentials.*401/,
    ],
    ["a repository that is not there", { url: "ORIGIN/no/such.git" }, /Not Found.*404/],
  ])("of GitHub fails with %s", async (_, more, expected) => {
    const url = "url" in more ? { url: more.url.replace("ORIGIN", server.origin) } : {};
    const attempt = open("agentbox/one", { ...more, ...url });
    await expect(attempt).rejects.toMatchObject({
      code: "push.failed",
      message: expect.stringMatching(expected),
    });
    await expect(attempt).rejects.not.toThrow(/canary/);
    expect(api.pulls).toEqual([]);
  });
});

/** Answers of forges that are written down in their documentation; each request is kept. */
async function speaking(answers: Readonly<Record<string, readonly [number, unknown]>>): Promise<
  {
    origin: string;
    heard: { path: string; authorization: string | undefined; body: unknown }[];
  } & AsyncDisposable
> {
  const heard: { path: string; authorization: string | undefined; body: unknown }[] = [];
  const listening = await listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = `${request.method} ${request.url}`;
      const text = Buffer.concat(chunks).toString();
      const { authorization } = request.headers;
      heard.push({ path, authorization, body: text === "" ? undefined : JSON.parse(text) });
      const [status, value] = answers[path] ?? [404, {}];
      response.writeHead(status).end(JSON.stringify(value));
    });
  });
  return { ...listening, heard };
}

describe("other forges", () => {
  const order = { branch: "agentbox/one", base: "main", title: "Cache", body: "Faster.", isDraft: true };

  it("GitLab: a merge request, or the one that is open", async () => {
    const path = "/api/v4/projects/group%2Fsub%2Fapp/merge_requests";
    const url = "https://gitlab.example/group/sub/app/-/merge_requests/7";
    await using fresh = await speaking({ [`POST ${path}`]: [201, { iid: 7, web_url: url }] });
    const at = (origin: string) => ({ url: `${origin}/group/sub/app.git`, credential });
    expect(await forges.openPullRequest({ ...at(fresh.origin), ...order, forge: "gitlab" })).toEqual({
      url,
      number: 7,
    });
    expect(fresh.heard[0]).toMatchObject({
      authorization: `Bearer ${token}`,
      body: {
        source_branch: "agentbox/one",
        target_branch: "main",
        title: "Draft: Cache",
        description: "Faster.",
      },
    });
    const list = `GET ${path}?source_branch=agentbox%2Fone&target_branch=main&state=opened`;
    await using taken = await speaking({
      [`POST ${path}`]: [409, { message: ["Another open merge request already exists"] }],
      [list]: [200, [{ iid: 7, web_url: url }]],
    });
    expect(await forges.openPullRequest({ ...at(taken.origin), ...order, forge: "gitlab" })).toEqual({
      url,
      number: 7,
    });
  });

  it("Gitea: a pull request, or the one that is open", async () => {
    const path = "/api/v1/repos/shop/app/pulls";
    const url = "https://codeberg.example/shop/app/pulls/3";
    await using taken = await speaking({
      [`POST ${path}`]: [409, { message: "pull request already exists for these targets" }],
      [`GET ${path}/main/agentbox/one`]: [200, { number: 3, html_url: url }],
    });
    const at = { url: `${taken.origin}/shop/app`, credential };
    expect(await forges.openPullRequest({ ...at, ...order, forge: "gitea" })).toEqual({ url, number: 3 });
    expect(taken.heard[0]).toMatchObject({ authorization: `token ${token}`, body: { title: "WIP: Cache" } });
  });

  it.each([
    ["a page that does something else", { number: 3, html_url: "javascript:alert(1)" }],
    ["no number", { html_url: "https://x.example/1" }],
    ["an echo of the request", { message: `token ${token} is bad` }],
  ])("an answer with %s is no pull request, and shows nothing", async (_, value) => {
    await using odd = await speaking({ "POST /api/v1/repos/shop/app/pulls": [201, value] });
    const attempt = forges.openPullRequest({
      url: `${odd.origin}/shop/app`,
      credential,
      ...order,
      forge: "gitea",
    });
    const error = (await attempt.catch((e: unknown) => e)) as Error;
    expect(error).toMatchObject({ code: "push.failed" });
    expect(error.message).not.toContain(token);
  });
});
