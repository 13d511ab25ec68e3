/** The exit codes of the command line; a command in a box ends with its own code. */
export const exitCodes = {
  failed: 1,
  invalid: 2,
  notFound: 3,
  conflict: 4,
  /** Something was not agreed to, by a rule or by the person who was asked. */
  refused: 5,
  /** Not available here, or not now. */
  unavailable: 6,
  timedOut: 124,
} as const;

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

export const errorCodes = {
  "input.invalid": code(400, exitCodes.invalid, "A request, flag or argument is not of the expected form."),
  "input.too_large": code(413, exitCodes.invalid, "A request is larger than the limit for its kind."),
  "command.unknown": code(400, exitCodes.invalid, "There is no such command or flag."),
  "manifest.invalid": code(
    400,
    exitCodes.failed,
    "The manifest breaks a rule; each finding has its own code and position.",
  ),
  "manifest.not_found": code(
    404,
    exitCodes.notFound,
    "There is no agentbox.toml here or in a directory above.",
  ),
  "manifest.exists": code(409, exitCodes.conflict, "There is a manifest already, and it is not overwritten."),
  "config.unknown_key": code(404, exitCodes.notFound, "The manifest has no such key."),
  "trust.required": code(
    403,
    exitCodes.refused,
    "The manifest asks for something outside the workspace that nobody has agreed to.",
  ),
  "trust.digest_mismatch": code(
    403,
    exitCodes.refused,
    "The digest that was agreed to is not the digest of what is asked.",
  ),
  "box.not_found": code(404, exitCodes.notFound, "There is no box with this name."),
  "box.name_taken": code(409, exitCodes.conflict, "A box with this name exists already."),
  "box.name_invalid": code(400, exitCodes.invalid, "A box name is not of the allowed form."),
  "box.wrong_phase": code(409, exitCodes.conflict, "The box is in a phase in which this cannot be done."),
  "box.start_failed": code(500, exitCodes.failed, "The box did not come up."),
  "boot.artifact_missing": code(
    409,
    exitCodes.unavailable,
    "The box lacks something that its manifest promises.",
  ),
  "box.unreachable": code(
    503,
    exitCodes.unavailable,
    "The box is running but its supervisor does not answer.",
    true,
  ),
  "box.too_old": code(
    409,
    exitCodes.unavailable,
    "The box was started by an older AgentBox that cannot do this.",
  ),
  "box.limit_reached": code(429, exitCodes.unavailable, "This installation has no room for another box."),
  "agent.unknown": code(404, exitCodes.notFound, "There is no such agent in the catalogue."),
  "agent.option_invalid": code(
    400,
    exitCodes.invalid,
    "An option of the agent is unknown or has a wrong value.",
  ),
  "agent.busy": code(409, exitCodes.conflict, "The agent is working and takes no message now."),
  "agent.not_running": code(409, exitCodes.conflict, "There is no agent in the box that could be spoken to."),
  "agent.no_conversation": code(409, exitCodes.conflict, "There is no conversation that could be resumed."),
  "agent.invalid": code(400, exitCodes.invalid, "The definition of an agent cannot be used."),
  "tool.not_installed": code(409, exitCodes.unavailable, "The agent is not installed in the tool store."),
  "tool.install_failed": code(500, exitCodes.failed, "The agent could not be installed."),
  "tool.unsupported": code(
    409,
    exitCodes.unavailable,
    "The agent has no program for this processor or system.",
  ),
  "tool.tampered": code(409, exitCodes.refused, "A file of the tool store is not what was installed."),
  "tool.in_use": code(409, exitCodes.conflict, "Boxes use this version."),
  "lock.invalid": code(400, exitCodes.invalid, "The lock file cannot be used."),
  "model.unknown_provider": code(404, exitCodes.notFound, "There is no such model provider."),
  "model.no_key": code(401, exitCodes.refused, "The host has no key for this model provider."),
  "model.foreign_key": code(
    401,
    exitCodes.refused,
    "A program in the box sent a credential of its own to the model gateway.",
  ),
  "model.not_allowed": code(403, exitCodes.refused, "The box may not use this model."),
  "model.unavailable": code(
    502,
    exitCodes.unavailable,
    "The model provider could not be reached, or broke off.",
    true,
  ),
  "model.bad_request": code(400, exitCodes.invalid, "The model gateway cannot read the request."),
  "model.price_unknown": code(
    403,
    exitCodes.refused,
    "A budget of money cannot be held for a model without a known price.",
  ),
  "budget.exhausted": code(429, 8, "A budget is used up."),
  "session.not_found": code(404, exitCodes.notFound, "The box has no such session."),
  "session.exists": code(409, exitCodes.conflict, "The box has a session of this name already."),
  "exec.not_found": code(404, 127, "The command does not exist in the box."),
  "exec.not_executable": code(400, 126, "The command cannot be executed in the box."),
  "runtime.unknown": code(404, exitCodes.notFound, "There is no such runtime."),
  "runtime.absent": code(503, exitCodes.unavailable, "The runtime is not installed on this host."),
  "runtime.broken": code(
    503,
    exitCodes.unavailable,
    "The runtime is installed but does not work on this host.",
  ),
  "runtime.unsupported": code(409, exitCodes.refused, "The runtime cannot do what was asked."),
  "image.invalid": code(400, exitCodes.invalid, "What an image should be made from cannot be used."),
  "image.not_found": code(404, exitCodes.notFound, "There is no such image, here or at its registry."),
  "image.not_built": code(409, exitCodes.unavailable, "The image of this manifest has not been built."),
  "image.in_use": code(409, exitCodes.conflict, "Boxes use this image."),
  "image.build_failed": code(500, exitCodes.failed, "The image could not be built; nothing of it is left."),
  "policy.unenforceable": code(
    409,
    exitCodes.refused,
    "A limit or guarantee was asked for by name that cannot be enforced here.",
  ),
  "policy.invalid": code(400, exitCodes.invalid, "A network rule cannot be used; nothing was started."),
  "approval.not_found": code(404, exitCodes.notFound, "There is no such question, or it has been answered."),
  "approval.changed": code(409, exitCodes.conflict, "The question is not the one that was looked at."),
  "egress.denied": code(
    403,
    exitCodes.refused,
    "The gate refused a connection or request of a box; the reason is in the answer.",
  ),
  "egress.failed": code(
    502,
    exitCodes.unavailable,
    "The gate let a box through, but the server could not be reached.",
    true,
  ),
  "gate.start_failed": code(500, exitCodes.failed, "The gate did not start, so no box has a way out."),
  "vault.locked": code(423, exitCodes.refused, "The vault is locked."),
  "vault.wrong_passphrase": code(403, exitCodes.refused, "The passphrase does not open the vault."),
  "vault.corrupted": code(500, exitCodes.failed, "The vault's file is not what was written."),
  "vault.failed": code(
    500,
    exitCodes.failed,
    "The vault could not be read or written; what it had is still there.",
  ),
  "secret.not_found": code(404, exitCodes.notFound, "There is no secret with this name."),
  "secret.exists": code(409, exitCodes.conflict, "A secret with this name exists already."),
  "secret.invalid": code(400, exitCodes.invalid, "The value cannot be a secret of this kind."),
  "secret.not_stored": code(409, exitCodes.conflict, "The value of this secret is kept elsewhere."),
  "secret.unavailable": code(503, exitCodes.unavailable, "The value of a secret could not be had.", true),
  "secret.misplaced": code(403, exitCodes.refused, "A placeholder was sent where no secret may go."),
  "secret.not_granted": code(403, exitCodes.refused, "Nobody has agreed that the box uses this secret."),
  "grant.not_found": code(404, exitCodes.notFound, "There is no such grant."),
  "connection.failed": code(502, exitCodes.unavailable, "The sign-in did not succeed."),
  "connection.not_found": code(404, exitCodes.notFound, "There is no such sign-in under way."),
  "sign_in.off": code(404, exitCodes.unavailable, "Nobody has set up a sign-in for a team here."),
  "sign_in.refused": code(
    403,
    exitCodes.refused,
    "The provider refused, or its answer is not that of this sign-in.",
  ),
  "sign_in.unavailable": code(
    503,
    exitCodes.unavailable,
    "The provider cannot be asked at the moment.",
    true,
  ),
  "push.refused": code(403, exitCodes.refused, "The branch may not be pushed to."),
  "push.failed": code(502, exitCodes.unavailable, "The work could not be pushed; the box still has it."),
  "audit.broken": code(500, exitCodes.failed, "The event log was changed after it was written."),
  "workspace.source_invalid": code(400, exitCodes.invalid, "The workspace source cannot be used."),
  "workspace.failed": code(500, exitCodes.failed, "The workspace could not be prepared."),
  "review.bad_bundle": code(
    502,
    exitCodes.refused,
    "What came out of the box is not a bundle that can be taken.",
  ),
  "review.too_large": code(413, exitCodes.refused, "The work is larger than what can be reviewed."),
  "review.nothing": code(409, exitCodes.conflict, "The box has changed nothing."),
  "review.failed": code(500, exitCodes.failed, "The work could not be read."),
  "review.unavailable": code(409, exitCodes.conflict, "The box has no workspace that could be reviewed."),
  "checkpoint.not_found": code(404, exitCodes.notFound, "There is no such checkpoint."),
  "comment.not_found": code(404, exitCodes.notFound, "There is no such comment."),
  "merge.danger": code(403, exitCodes.refused, "The work has dangers that nobody has accepted."),
  "merge.unseen": code(403, exitCodes.refused, "Nobody was shown the state that is to land."),
  "merge.checks": code(403, exitCodes.refused, "A check has not passed."),
  "merge.conflict": code(
    409,
    exitCodes.conflict,
    "The work and the repository have changed the same places.",
  ),
  "merge.dirty": code(409, exitCodes.conflict, "Uncommitted changes are in the way."),
  "merge.cannot_undo": code(409, exitCodes.conflict, "What was merged has been changed since."),
  "merge.failed": code(500, exitCodes.failed, "The work could not be merged; nothing was changed."),
  "mount.invalid": code(400, exitCodes.invalid, "A mount cannot be made as asked."),
  "file.not_found": code(404, exitCodes.notFound, "There is no such file or directory."),
  "file.unsafe_path": code(400, exitCodes.refused, "A path leaves the place it must stay in."),
  "file.exists": code(409, exitCodes.conflict, "The destination exists and is of another kind."),
  "file.foreign": code(
    403,
    exitCodes.refused,
    "A file or directory belongs to another user or can be written by others, so it is not taken as an order.",
  ),
  "file.failed": code(500, exitCodes.failed, "A file could not be read or written."),
  "port.closed": code(502, exitCodes.unavailable, "Nothing in the box listens on this port.", true),
  "preview.unconfirmed": code(
    409,
    exitCodes.refused,
    "The box holds secrets or may use some, and its owner has not agreed to previews of it.",
  ),
  "preview.refused": code(403, exitCodes.refused, "A preview was asked for without the right to see it."),
  "access.unauthenticated": code(
    401,
    exitCodes.refused,
    "The request has no credential, or one that is not valid any more.",
  ),
  "access.forbidden": code(
    403,
    exitCodes.refused,
    "The credential does not reach this, or the request comes from a foreign page.",
  ),
  "access.link_used": code(403, exitCodes.refused, "The one-time link was opened already, or is too old."),
  "access.too_many": code(
    429,
    exitCodes.unavailable,
    "Too many credentials that are not valid were tried.",
    true,
  ),
  "access.not_found": code(404, exitCodes.notFound, "There is no such token, share, sign-in or person."),
  "web.port_taken": code(409, exitCodes.conflict, "The port of the dashboard is in use by another program."),
  "daemon.unreachable": code(503, exitCodes.unavailable, "The daemon does not answer.", true),
  "daemon.already_running": code(409, exitCodes.conflict, "Another daemon serves this AGENTBOX_HOME."),
  "daemon.start_failed": code(500, exitCodes.failed, "The daemon did not start."),
  "home.unsafe": code(500, exitCodes.refused, "AGENTBOX_HOME is owned by somebody else or open to others."),
  "home.path_too_long": code(
    500,
    exitCodes.invalid,
    "AGENTBOX_HOME is so long that a socket below it cannot be addressed.",
  ),
  "store.locked": code(503, exitCodes.unavailable, "Another process holds the store.", true),
  "store.disk_full": code(507, exitCodes.unavailable, "The disk that holds the store is full."),
  "store.too_new": code(500, exitCodes.unavailable, "The store was written by a newer AgentBox."),
  "store.failed": code(500, exitCodes.failed, "The store could not be read or written."),
  "disk.low": code(507, exitCodes.unavailable, "There is too little free disk to make a box."),
  "link.violation": code(502, exitCodes.failed, "A box broke the link protocol and was cut off."),
  "link.path_too_long": code(
    500,
    exitCodes.invalid,
    "The path of a box's socket is longer than the system allows.",
  ),
  "request.not_found": code(404, exitCodes.notFound, "The API has no such route."),
  "request.method_not_allowed": code(405, exitCodes.invalid, "The API route does not take this method."),
  "request.timed_out": code(504, exitCodes.timedOut, "The request took longer than its time limit.", true),
  "internal.unexpected": code(
    500,
    exitCodes.failed,
    "Something went wrong that should not; the daemon's log has the details.",
  ),
} as const satisfies Record<string, ErrorCodeFacts>;

export type ErrorCode = keyof typeof errorCodes;

export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === "string" && Object.hasOwn(errorCodes, value);
