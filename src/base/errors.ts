import { type ErrorCode, errorCodes, isErrorCode } from "./error-codes.ts";
import { omitUndefined } from "./omit-undefined.ts";

export interface ErrorDetails {
  /** One sentence that says what to do. */
  hint?: string | undefined;
  /** Values for programs; never a secret. */
  facts?: Record<string, unknown> | undefined;
  /** Every reason of a refusal that has several; this error repeats the first. */
  problems?: readonly ErrorBody[] | undefined;
  cause?: unknown;
}

/** The form of an error on the wire and in `--json` output. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  hint?: string | undefined;
  facts?: Record<string, unknown> | undefined;
  /** All reasons of a refused plan, the one above included. */
  problems?: ErrorBody[] | undefined;
}

/** The one error class: a code from the table, one sentence, one hint. */
export class AgentBoxError extends Error {
  override readonly name = "AgentBoxError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly facts: Record<string, unknown> | undefined;
  readonly problems: readonly ErrorBody[] | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.facts = details.facts;
    this.problems = details.problems;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }

  get exitCode(): number {
    return errorCodes[this.code].exit;
  }

  get isRetryable(): boolean {
    return errorCodes[this.code].retryable;
  }

  toBody(): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      ...omitUndefined({ hint: this.hint, facts: this.facts, problems: this.problems && [...this.problems] }),
    };
  }

  static fromBody(body: unknown): AgentBoxError {
    const { code, message, hint, facts, problems } = (body ?? {}) as Partial<ErrorBody>;
    return new AgentBoxError(isErrorCode(code) ? code : "internal.unexpected", message ?? "No details.", {
      hint,
      facts,
      problems,
    });
  }
}

export const isAgentBoxError = (error: unknown, code?: ErrorCode): error is AgentBoxError =>
  error instanceof AgentBoxError && (code === undefined || error.code === code);

/** The message of anything thrown, without its stack. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Wraps what is not ours, so that the edges see one class only. */
export function toAgentBoxError(error: unknown, fallback: ErrorCode = "internal.unexpected"): AgentBoxError {
  if (error instanceof AgentBoxError) return error;
  return new AgentBoxError(fallback, messageOf(error), { cause: error });
}

/** The `code` of a Node system error, such as ENOENT. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
