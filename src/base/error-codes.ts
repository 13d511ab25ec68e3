/**
 * Every way AgentBox can refuse, in one closed table. `status` is the HTTP answer, `exit` the exit code of the
 * CLI. docs/reference/errors.md is generated from this file, and a test fails when a code is not used anywhere.
 */
export interface ErrorCodeFacts {
  readonly status: number;
  readonly exit: number;
  readonly retryable: boolean;
  readonly summary: string;
}

const code = (status: number, exit: number, summary: string, retryable = false): ErrorCodeFacts => ({
  status,
  exit,
  retryable,
  summary,
});

/** Exit codes: 1 failed, 2 bad input, 3 not found, 4 conflict, 5 refused, 6 not available here, 124 timed out. */
export const errorCodes = {
  "input.invalid": code(400, 2, "A request, flag or argument is not of the expected form."),
  "input.too_large": code(413, 2, "A request is larger than the limit for its kind."),
  "command.unknown": code(400, 2, "There is no such command or flag."),
  "manifest.invalid": code(400, 1, "The manifest breaks a rule; each finding has its own code and position."),
  "manifest.not_found": code(404, 3, "There is no agentbox.toml here or in a directory above."),
  "manifest.exists": code(409, 4, "There is a manifest already, and it is not overwritten."),
  "config.unknown_key": code(404, 3, "The manifest has no such key."),
  "trust.required": code(
    403,
    5,
    "The manifest asks for something outside the workspace that nobody has agreed to.",
  ),
  "trust.digest_mismatch": code(403, 5, "The digest that was agreed to is not the digest of what is asked."),
  "box.not_found": code(404, 3, "There is no box with this name."),
  "box.name_taken": code(409, 4, "A box with this name exists already."),
  "box.name_invalid": code(400, 2, "A box name is not of the allowed form."),
  "box.wrong_phase": code(409, 4, "The box is in a phase in which this cannot be done."),
  "box.start_failed": code(500, 1, "The box did not come up."),
  "box.unreachable": code(503, 6, "The box is running but its supervisor does not answer.", true),
  "box.limit_reached": code(429, 6, "This installation has no room for another box."),
  "agent.unknown": code(404, 3, "There is no such agent in the catalogue."),
  "agent.option_invalid": code(400, 2, "An option of the agent is unknown or has a wrong value."),
  "agent.busy": code(409, 4, "The agent is working and takes no message now."),
  "agent.not_running": code(409, 4, "There is no agent in the box that could be spoken to."),
  "agent.no_conversation": code(409, 4, "There is no conversation that could be resumed."),
  "agent.invalid": code(400, 2, "The definition of an agent cannot be used."),
  "tool.not_installed": code(409, 6, "The agent is not installed in the tool store."),
  "tool.install_failed": code(500, 1, "The agent could not be installed."),
  "tool.unsupported": code(409, 6, "The agent has no program for this processor or system."),
  "tool.tampered": code(409, 5, "A file of the tool store is not what was installed."),
  "tool.in_use": code(409, 4, "Boxes use this version."),
  "lock.invalid": code(400, 2, "The lock file cannot be used."),
  "model.unknown_provider": code(404, 3, "There is no such model provider."),
  "model.no_key": code(401, 5, "The host has no key for this model provider."),
  "model.foreign_key": code(
    401,
    5,
    "A program in the box sent a credential of its own to the model gateway.",
  ),
  "model.not_allowed": code(403, 5, "The box may not use this model."),
  "model.unavailable": code(502, 6, "The model provider could not be reached, or broke off.", true),
  "model.bad_request": code(400, 2, "The model gateway cannot read the request."),
  "model.price_unknown": code(403, 5, "A budget of money cannot be held for a model without a known price."),
  "budget.exhausted": code(429, 8, "A budget is used up."),
  "session.not_found": code(404, 3, "The box has no such session."),
  "session.exists": code(409, 4, "The box has a session of this name already."),
  "exec.not_found": code(404, 127, "The command does not exist in the box."),
  "exec.not_executable": code(400, 126, "The command cannot be executed in the box."),
  "runtime.unknown": code(404, 3, "There is no such runtime."),
  "runtime.absent": code(503, 6, "The runtime is not installed on this host."),
  "runtime.broken": code(503, 6, "The runtime is installed but does not work on this host."),
  "runtime.unsupported": code(409, 5, "The runtime cannot do what was asked."),
  "policy.unenforceable": code(
    409,
    5,
    "A limit or guarantee was asked for by name that cannot be enforced here.",
  ),
  "policy.invalid": code(400, 2, "A network rule cannot be used; nothing was started."),
  "approval.not_found": code(404, 3, "There is no such question, or it has been answered."),
  "egress.denied": code(
    403,
    5,
    "The gate refused a connection or request of a box; the reason is in the answer.",
  ),
  "egress.failed": code(502, 6, "The gate let a box through, but the server could not be reached.", true),
  "gate.start_failed": code(500, 1, "The gate did not start, so no box has a way out."),
  "workspace.source_invalid": code(400, 2, "The workspace source cannot be used."),
  "workspace.failed": code(500, 1, "The workspace could not be prepared."),
  "review.bad_bundle": code(502, 5, "What came out of the box is not a bundle that can be taken."),
  "review.too_large": code(413, 5, "The work is larger than what can be reviewed."),
  "review.nothing": code(409, 4, "The box has changed nothing."),
  "review.failed": code(500, 1, "The work could not be read."),
  "review.unavailable": code(409, 4, "The box has no workspace that could be reviewed."),
  "checkpoint.not_found": code(404, 3, "There is no such checkpoint."),
  "comment.not_found": code(404, 3, "There is no such comment."),
  "merge.danger": code(403, 5, "The work has dangers that nobody has accepted."),
  "merge.checks": code(403, 5, "A check has not passed."),
  "merge.conflict": code(409, 4, "The work and the repository have changed the same places."),
  "merge.dirty": code(409, 4, "Uncommitted changes are in the way."),
  "merge.cannot_undo": code(409, 4, "What was merged has been changed since."),
  "merge.failed": code(500, 1, "The work could not be merged; nothing was changed."),
  "mount.invalid": code(400, 2, "A mount cannot be made as asked."),
  "file.not_found": code(404, 3, "There is no such file or directory."),
  "file.unsafe_path": code(400, 5, "A path leaves the place it must stay in."),
  "file.exists": code(409, 4, "The destination exists and is of another kind."),
  "file.failed": code(500, 1, "A file could not be read or written."),
  "daemon.unreachable": code(503, 6, "The daemon does not answer.", true),
  "daemon.already_running": code(409, 4, "Another daemon serves this AGENTBOX_HOME."),
  "daemon.start_failed": code(500, 1, "The daemon did not start."),
  "home.unsafe": code(500, 5, "AGENTBOX_HOME is owned by somebody else or open to others."),
  "home.path_too_long": code(500, 2, "AGENTBOX_HOME is so long that a socket below it cannot be addressed."),
  "store.locked": code(503, 6, "Another process holds the store.", true),
  "store.disk_full": code(507, 6, "The disk that holds the store is full."),
  "store.too_new": code(500, 6, "The store was written by a newer AgentBox."),
  "store.failed": code(500, 1, "The store could not be read or written."),
  "disk.low": code(507, 6, "There is too little free disk to make a box."),
  "link.violation": code(502, 1, "A box broke the link protocol and was cut off."),
  "link.path_too_long": code(500, 2, "The path of a box's socket is longer than the system allows."),
  "request.not_found": code(404, 3, "The API has no such route."),
  "request.method_not_allowed": code(405, 2, "The API route does not take this method."),
  "request.timed_out": code(504, 124, "The request took longer than its time limit.", true),
  "internal.unexpected": code(
    500,
    1,
    "Something went wrong that should not; the daemon's log has the details.",
  ),
} as const satisfies Record<string, ErrorCodeFacts>;

export type ErrorCode = keyof typeof errorCodes;

export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === "string" && Object.hasOwn(errorCodes, value);
