import type { ErrorCode } from "../base/error-codes.ts";
import { AgentBoxError, messageOf, systemCode } from "../base/errors.ts";
import type { StreamOutput } from "../contract/link/messages.ts";

const codes: Record<string, ErrorCode> = {
  ENOENT: "file.not_found",
  ENOTDIR: "file.not_found",
  EEXIST: "file.exists",
  EISDIR: "file.exists",
  ENOTEMPTY: "file.exists",
  ELOOP: "file.unsafe_path",
};

/** Any error as what the host is told: a code from the table and one sentence that fits its frame. */
export function failure(error: unknown): Extract<StreamOutput, { type: "failed" }> {
  const code =
    error instanceof AgentBoxError ? error.code : (codes[systemCode(error) ?? ""] ?? "file.failed");
  return { type: "failed", code, message: messageOf(error).slice(0, 4000) };
}
