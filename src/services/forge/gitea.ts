/** Pull requests of Gitea and Forgejo, at the host of the repository. */
import type { PullRequest, PullRequestOrder } from "../../ports/forge.ts";
import type { Api } from "./api-call.ts";
import { readPullRequest, requestFailed } from "./pull-request-answer.ts";
import { encodeParts, pathOf } from "./repository-path.ts";

const names = { url: "html_url", number: "number" };

export async function openGitea(order: PullRequestOrder, api: Api): Promise<PullRequest> {
  const { credential, branch, base, title, body, isDraft } = order;
  const { origin } = new URL(order.url);
  const pulls = `${origin}/api/v1/repos/${encodeParts(pathOf(order.url))}/pulls`;
  const common = { credential, authorization: `token ${credential.password}` };
  const answer = await api({
    ...common,
    method: "POST",
    url: pulls,
    body: { title: isDraft ? `WIP: ${title}` : title, body, head: branch, base },
  });
  const opened = answer.status === 201 ? readPullRequest(answer.value, names) : undefined;
  if (opened) return opened;
  if (answer.status !== 409) throw requestFailed(answer, order);
  const one = await api({
    ...common,
    method: "GET",
    url: `${pulls}/${encodeURIComponent(base)}/${encodeParts(branch)}`,
  });
  const found = readPullRequest(one.value, names);
  if (found) return found;
  throw requestFailed(answer, order);
}
