/** The routes of GitHub's API that open pull requests, answering as GitHub Enterprise Server does below /api/v3. */
import type { IncomingMessage, ServerResponse } from "node:http";

export interface FakePull {
  readonly number: number;
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly draft: boolean;
}

export interface GithubApi {
  readonly pulls: FakePull[];
  readonly requests: { method: string; path: string; authorization: string | undefined }[];
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface GithubApiOptions {
  readonly token: string;
  /** `owner/name`. */
  readonly repository: string;
  /** Whether a branch is at the repository; those that are not cannot be the head of anything. */
  readonly hasBranch: (name: string) => Promise<boolean>;
}

export function fakeGithubApi({ token, repository, hasBranch }: GithubApiOptions): GithubApi {
  const pulls: FakePull[] = [];
  const requests: GithubApi["requests"] = [];
  const owner = repository.split("/")[0]!;

  const describe = (pull: FakePull, host: string) => ({
    number: pull.number,
    html_url: `http://${host}/${repository}/pull/${pull.number}`,
    state: "open",
    draft: pull.draft,
    title: pull.title,
    head: { ref: pull.head, label: `${owner}:${pull.head}` },
    base: { ref: pull.base },
  });

  const open = async (body: Record<string, unknown>, host: string): Promise<[number, unknown]> => {
    const { title, head, base, body: text, draft } = body as Record<string, string> & { draft?: boolean };
    const invalid = (error: object): [number, unknown] => [
      422,
      { message: "Validation Failed", errors: [error], documentation_url: "https://docs.github.com/rest" },
    ];
    for (const [field, name] of Object.entries({ head, base })) {
      if (!(await hasBranch(name ?? ""))) return invalid({ resource: "PullRequest", field, code: "invalid" });
    }
    if (pulls.some((pull) => pull.head === head && pull.base === base))
      return invalid({
        resource: "PullRequest",
        code: "custom",
        message: `A pull request already exists for ${owner}:${head}.`,
      });
    const pull = {
      number: pulls.length + 1,
      head: head!,
      base: base!,
      title: title!,
      body: text ?? "",
      draft: draft ?? false,
    };
    pulls.push(pull);
    return [201, describe(pull, host)];
  };

  const respond = async (request: IncomingMessage): Promise<[number, unknown]> => {
    const { method = "", url = "", headers } = request;
    requests.push({ method, path: url, authorization: headers.authorization });
    const { pathname, searchParams } = new URL(url, "http://x");
    if (headers["user-agent"] === undefined) return [403, { message: "Request forbidden" }];
    if (headers.authorization !== `Bearer ${token}`)
      return [401, { message: "Bad credentials", documentation_url: "https://docs.github.com/rest" }];
    if (pathname !== `/api/v3/repos/${repository}/pulls`) return [404, { message: "Not Found" }];
    if (method === "POST") return open(await readJson(request), headers.host!);
    const found = pulls.filter(
      ({ head, base }) =>
        `${owner}:${head}` === searchParams.get("head") && base === searchParams.get("base"),
    );
    return [200, found.map((pull) => describe(pull, headers.host!))];
  };

  return {
    pulls,
    requests,
    answer: (request, response) =>
      void respond(request).then(([status, body]) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
      ),
  };
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}
