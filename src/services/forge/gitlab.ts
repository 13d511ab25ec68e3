/** Merge requests of GitLab, at the host of the repository. */
import type { PullRequest, PullRequestOrder } from "../../ports/forge.ts";
import type { Api } from "./api-call.ts";
import { readPullRequest, requestFailed } from "./pull-request-answer.ts";
import { pathOf } from "./repository-path.ts";

const names = { url: "web_url", number: "iid" };

export async function openGitlab(order: PullRequestOrder, api: Api): Promise<PullRequest> {
  const { credential, branch, base, title, body, isDraft } = order;
  const { origin } = new URL(order.url);
  const requests = `${origin}/api/v4/projects/${encodeURIComponent(pathOf(order.url))}/merge_requests`;
  const common = { credential, authorization: `Bearer ${credential.password}` };
  const answer = await api({
    ...common,
    method: "POST",
    url: requests,
    body: {
      source_branch: branch,
      target_branch: base,
      title: isDraft ? `Draft: ${title}` : title,
      description: body,
    },
  });
  const opened = answer.status === 201 ? readPullRequest(answer.value, names) : undefined;
  if (opened) return opened;
  if (answer.status !== 409) throw requestFailed(answer, order);
  const query = new URLSearchParams({ source_branch: branch, target_branch: base, state: "opened" });
  const list = await api({ ...common, method: "GET", url: `${requests}?${query.toString()}` });
  const found = Array.isArray(list.value) ? readPullRequest(list.value[0], names) : undefined;
  if (found) return found;
  throw requestFailed(answer, order);
}
