/**
 * Which headers of a box go on to the provider: those on a list. SECURITY: vendors choose by headers who pays, which
 * project's data are used, what a request may do and at which price; and servers behind a gateway take commands from them.
 */

/** By exact name; underscores are another name to some servers and the same one to others. */
const sent: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "user-agent",
  "anthropic-version",
  "anthropic-dangerous-direct-browser-access",
  "x-goog-api-client",
  // The headers in which agents describe themselves and their conversations.
  "conversation-id",
  "conversation_id",
  "copilot-integration-id",
  "editor-plugin-version",
  "editor-version",
  "http-referer",
  "idempotency-key",
  "originator",
  "referer",
  "session-id",
  "session_id",
  "thread-id",
  "traceparent",
  "tracestate",
  "version",
  "x-app",
  "x-client-request-id",
  "x-initiator",
  "x-interaction-id",
  "x-interaction-type",
  "x-openai-subagent",
  "x-request-id",
  "x-session-affinity",
  "x-session-id",
  "x-title",
]);
const sentFamilies = ["x-claude-code-", "x-codex-", "x-stainless-"] as const;

/**
 * Betas that change how an answer is made, and let the vendor reach, keep or run nothing more. The agents in the catalogue
 * send most of them. The parts of a request that others are about are refused anyway.
 */
const anthropicBetas: ReadonlySet<string> = new Set([
  "advanced-tool-use-2025-11-20",
  "afk-mode-2026-01-31",
  "cache-diagnosis-2026-04-07",
  "claude-code-20250219",
  "compact-2026-01-12",
  "compact-2026-09-04",
  "computer-use-2024-10-22",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "context-1m-2025-08-07",
  "context-hint-2026-04-09",
  "context-management-2025-06-27",
  "dev-full-thinking-2025-05-14",
  "effort-2025-11-24",
  "extended-cache-ttl-2025-04-11",
  // The price is in the body, as `speed`.
  "fast-mode-2026-02-01",
  "fine-grained-tool-streaming-2025-05-14",
  "interleaved-thinking-2025-05-14",
  "mid-conversation-output-config-2026-07-01",
  "mid-conversation-system-2026-04-07",
  "mid-conversation-system-clear-at-2026-08-21",
  "mid-conversation-tool-changes-2026-07-01",
  "model-context-window-exceeded-2025-08-26",
  "oauth-2025-04-20",
  "output-128k-2025-02-19",
  "pdfs-2024-09-25",
  "prompt-caching-2024-07-31",
  "prompt-caching-scope-2026-01-05",
  "redact-thinking-2026-02-12",
  "search-results-2025-06-09",
  "structured-outputs-2025-11-13",
  "structured-outputs-2025-12-15",
  "summarize-connector-text-2026-03-13",
  "task-budgets-2026-03-13",
  "thinking-binding-controls-2026-08-01",
  "thinking-display-updates-2026-08-18",
  "thinking-token-count-2026-05-13",
  "token-counting-2024-11-01",
  "token-efficient-tools-2025-02-19",
  "tool-examples-2025-10-29",
  "tool-search-tool-2025-10-19",
  "web-search-2025-03-05",
]);

const isOpenAiBeta = (beta: string): boolean => /^responses(?:_websockets)?=[\w.-]{1,32}$/.test(beta);

/** Headers that are a list, of which the known entries go on. */
const filtered: Readonly<Record<string, (entry: string) => boolean>> = {
  "anthropic-beta": (beta) => anthropicBetas.has(beta),
  "openai-beta": isOpenAiBeta,
};

const isSent = (name: string): boolean =>
  sent.has(name) || sentFamilies.some((family) => name.startsWith(family));

/** The program's headers as they are sent on, without those that Connection names. */
export function sentHeaders(rawHeaders: readonly string[]): string[] {
  const named = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() !== "connection") continue;
    for (const one of rawHeaders[i + 1]!.toLowerCase().split(",")) named.add(one.trim());
  }
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (named.has(name)) continue;
    const value = isSent(name) ? rawHeaders[i + 1]! : knownEntries(name, rawHeaders[i + 1]!);
    if (value !== undefined) headers.push(rawHeaders[i]!, value);
  }
  return headers;
}

function knownEntries(name: string, value: string): string | undefined {
  const isKnown = Object.hasOwn(filtered, name) ? filtered[name] : undefined;
  if (isKnown === undefined) return undefined;
  const entries = value
    .split(",")
    .map((one) => one.trim())
    .filter(isKnown);
  return entries.length === 0 ? undefined : entries.join(",");
}
