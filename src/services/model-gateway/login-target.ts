/**
 * Where a request with a subscription goes. ChatGPT takes the tokens of its own sign-in at an address of its own, and
 * there only what Codex asks for: everything else is refused here, and never sent to where keys are taken.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { ModelProvider } from "../../contract/model/api.ts";
import type { Key } from "./credentials.ts";
import type { Target } from "./route.ts";

const version = "/v1";
const loginPaths = new Set(["/v1/responses", "/v1/responses/compact", "/v1/models"]);

export function checkLoginTarget({ path }: Pick<Target, "path">, { baseUrl }: Key): void {
  if (baseUrl === undefined || loginPaths.has(path)) return;
  throw new AgentBoxError("model.bad_request", "A login has no answers at this path.", {
    hint: "Use the Responses API, or a key in place of the login.",
  });
}

/** `path` with its query, as it follows the provider's address. */
export const loginTargetOf = (
  provider: ModelProvider,
  path: string,
  { baseUrl }: Key,
): { readonly provider: ModelProvider; readonly path: string } =>
  baseUrl === undefined
    ? { provider, path }
    : { provider: { ...provider, baseUrl }, path: path.slice(version.length) };
