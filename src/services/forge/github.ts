/** Pull requests of GitHub, and of GitHub Enterprise Server at the host of the repository. */
import type { PullRequest, PullRequestOrder } from "../../ports/forge.ts";
import type { Api } from "./api-call.ts";
import { messageOfAnswer, readPullRequest, requestFailed } from "./pull-request-answer.ts";
import { encodeParts, pathOf } from "./repository-path.ts";

const names = { url: "html_url", number: "number" };

export async function openGithub(order: PullRequestOrder, api: Api): Promise<PullRequest> {
  const { credential, branch, base, title, body, isDraft } = order;
  const path = pathOf(order.url);
  const pulls = `${apiOf(order.url)}/repos/${encodeParts(path)}/pulls`;
  const common = {
    credential,
    authorization: `Bearer ${credential.password}`,
    headers: { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" },
  };
  const answer = await api({
    ...common,
    method: "POST",
    url: pulls,
    body: { title, body, head: branch, base, draft: isDraft },
  });
  const opened = answer.status === 201 ? readPullRequest(answer.value, names) : undefined;
  if (opened) return opened;
  if (answer.status !== 422 || !/already exists/i.test(messageOfAnswer(answer.value)))
    throw requestFailed(answer, order);
  const query = new URLSearchParams({ head: `${path.split("/")[0]}:${branch}`, base, state: "open" });
  const list = await api({ ...common, method: "GET", url: `${pulls}?${query.toString()}` });
  const found = Array.isArray(list.value) ? readPullRequest(list.value[0], names) : undefined;
  if (found) return found;
  throw requestFailed(answer, order);
}

function apiOf(url: string): string {
  const { origin, host } = new URL(url);
  return host === "github.com" ? "https://api.github.com" : `${origin}/api/v3`;
}
