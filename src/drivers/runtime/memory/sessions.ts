/** The sessions of a simulated box: built-in commands whose output is kept for followers and viewers. */
import { AgentBoxError } from "../../../base/errors.ts";
import type { MainSession } from "../../../contract/box.ts";
import type { SessionStatus } from "../../../contract/link/messages.ts";
import { type Builtin, startBuiltin } from "./builtins.ts";

interface Session {
  status: SessionStatus;
  readonly output: Uint8Array[];
  readonly builtin: Builtin;
  readonly viewers: Set<(chunk: Uint8Array) => void>;
}

export class SimulatedSessions {
  readonly #sessions = new Map<string, Session>();
  readonly #ended: (status: SessionStatus) => void;

  constructor(ended: (status: SessionStatus) => void) {
    this.#ended = ended;
  }

  list(): SessionStatus[] {
    return [...this.#sessions.values()].map(({ status }) => status);
  }

  start(id: string, spec: MainSession): SessionStatus {
    if (this.#sessions.get(id)?.status.state === "running") {
      throw new AgentBoxError("session.exists", `There is a session "${id}" already.`);
    }
    const output: Uint8Array[] = [];
    const viewers: Session["viewers"] = new Set();
    const write = (chunk: Uint8Array): void => {
      output.push(chunk);
      const session = this.#sessions.get(id);
      if (session)
        session.status = { ...session.status, outputBytes: session.status.outputBytes + chunk.length };
      for (const viewer of viewers) viewer(chunk);
    };
    const builtin = startBuiltin(spec.argv, write);
    if (builtin === undefined)
      throw new AgentBoxError("exec.not_found", `There is no command "${spec.argv[0]}".`);
    const status: SessionStatus = {
      id,
      argv: spec.argv.slice(0, 16).map((word) => word.slice(0, 120)),
      terminal: spec.terminal,
      state: "running",
      exitCode: null,
      signal: null,
      startedAtMs: Date.now(),
      viewers: 0,
      outputBytes: output.reduce((sum, chunk) => sum + chunk.length, 0),
    };
    const session: Session = { status, output, builtin, viewers };
    this.#sessions.set(id, session);
    void builtin.exit.then(({ code, signal }) => {
      session.status = { ...session.status, state: "ended", exitCode: code, signal };
      this.#ended(session.status);
    });
    return status;
  }

  #get(id: string): Session {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new AgentBoxError("session.not_found", `There is no session "${id}".`);
    return session;
  }

  signal(id: string, signal: string): void {
    this.#get(id).builtin.kill(signal);
  }

  /** Everything from `offset` on, then new output; resolves when the session has ended. */
  async watch(id: string, offset: number, viewer: (chunk: Uint8Array) => void): Promise<SessionStatus> {
    const session = this.#get(id);
    const past = Buffer.concat(session.output).subarray(offset);
    if (past.length > 0) viewer(past);
    session.viewers.add(viewer);
    await session.builtin.exit;
    session.viewers.delete(viewer);
    return session.status;
  }

  input(id: string, chunk: Uint8Array): void {
    this.#get(id).builtin.input(chunk);
  }

  endAll(): void {
    for (const { builtin } of this.#sessions.values()) builtin.kill("KILL");
  }
}
