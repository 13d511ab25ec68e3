/**
 * The answers of forges, read with tolerance: only the fields that are needed, and only where they have the expected
 * form.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { PullRequest, PullRequestOrder } from "../../ports/forge.ts";
import type { ApiAnswer } from "./api-call.ts";
import { quoteSafely } from "./mask.ts";

const field = (value: unknown, name: string): unknown =>
  value !== null && typeof value === "object" ? (value as Record<string, unknown>)[name] : undefined;

export function readPullRequest(
  value: unknown,
  names: { readonly url: string; readonly number: string },
): PullRequest | undefined {
  const [url, number] = [field(value, names.url), field(value, names.number)];
  if (typeof url !== "string" || !URL.canParse(url) || typeof number !== "number") return undefined;
  const parsed = new URL(url);
  // SECURITY: it is shown as a link; only schemes that open a page count.
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") return undefined;
  return { url: parsed.href, number };
}

/** All messages of a forge about the failure, whichever field they are in. */
export function messageOfAnswer(value: unknown): string {
  const message = field(value, "message") ?? field(value, "error");
  const errors = field(value, "errors");
  const details = Array.isArray(errors) ? errors.map((error) => field(error, "message") ?? error) : [];
  return [...(Array.isArray(message) ? (message as unknown[]) : [message]), ...details]
    .filter((one) => typeof one === "string" && one !== "")
    .join("; ");
}

export function requestFailed({ status, value }: ApiAnswer, order: PullRequestOrder): AgentBoxError {
  const { host } = new URL(order.url);
  const message = quoteSafely(messageOfAnswer(value), order.credential);
  const why = message === "" ? `status ${status}` : `${message} (status ${status})`;
  return new AgentBoxError(
    "push.failed",
    `The branch is pushed, but ${host} opened no pull request: ${why}.`,
    {
      hint: hintFor(status),
      facts: { status },
    },
  );
}

function hintFor(status: number): string {
  if (status === 401 || status === 403 || status === 404)
    return "The secret must be allowed to open pull requests in this repository.";
  if (status === 422 || status === 400) return "Check --base and --title, or open it in the browser.";
  return "Try again, or open it in the browser.";
}
