import { AgentBoxError } from "../../base/errors.ts";
import type { BoxdConfig, SessionStart, SessionStatus } from "../../contract/link/messages.ts";
import type { Activity } from "../activity.ts";
import { signalName } from "../programs/process-group.ts";
import { Session } from "./session.ts";

const keptEnded = 32;
const maxRunning = 128;

/** The sessions of a box by name, the last ended ones included. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #starting = new Set<string>();
  readonly #config: BoxdConfig;
  readonly #activity: Activity;
  readonly #onEnd: (session: Session) => void;

  constructor(config: BoxdConfig, activity: Activity, onEnd: (session: Session) => void) {
    this.#config = config;
    this.#activity = activity;
    this.#onEnd = onEnd;
  }

  async start({
    session: id,
    spec,
    files = [],
    links = {},
    hasNoInput = false,
  }: SessionStart): Promise<Session> {
    if (this.#starting.has(id) || this.#sessions.get(id)?.isRunning) {
      throw new AgentBoxError("session.exists", `The session ${id} is running already.`);
    }
    if (this.running.length >= maxRunning) {
      throw new AgentBoxError("box.limit_reached", `The box has ${maxRunning} running sessions already.`);
    }
    this.#starting.add(id);
    try {
      if (files.length > 0 || Object.keys(links).length > 0) {
        const { seedHome } = await import("../files/seed-home.ts");
        await seedHome(files, links);
      }
      const onEnd = (session: Session) => this.#ended(session);
      const session = await Session.start({
        id,
        spec,
        hasNoInput,
        config: this.#config,
        activity: this.#activity,
        onEnd,
      });
      // Deleted first, so that the newest is the last one in the list.
      this.#sessions.delete(id);
      this.#sessions.set(id, session);
      this.#activity.touch();
      return session;
    } finally {
      this.#starting.delete(id);
    }
  }

  get(id: string): Session {
    const session = this.#sessions.get(id);
    if (!session) throw new AgentBoxError("session.not_found", `The box has no session ${id}.`);
    return session;
  }

  async input(id: string, text: string): Promise<void> {
    const session = this.get(id);
    if (!session.isRunning) throw new AgentBoxError("session.not_found", `The session ${id} has ended.`);
    await session.input(text);
  }

  signal(id: string, name: string): void {
    const signal = signalName(name);
    if (!signal) throw new AgentBoxError("input.invalid", `The signal ${name} cannot be sent.`);
    this.get(id).signal(signal);
  }

  get running(): Session[] {
    return [...this.#sessions.values()].filter((session) => session.isRunning);
  }

  get statuses(): SessionStatus[] {
    return [...this.#sessions.values()].map((session) => session.status);
  }

  #ended(session: Session): void {
    const ended = [...this.#sessions.values()].filter((other) => !other.isRunning);
    for (const old of ended.slice(0, Math.max(0, ended.length - keptEnded))) this.#sessions.delete(old.id);
    this.#onEnd(session);
  }
}
