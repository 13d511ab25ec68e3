/** One connection to an ssh-agent process of our own: a question, then its answer, or an error within a time. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { AgentBoxError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import { type Deferred, deferred } from "../../base/deferred.ts";
import type { SshKeysLimits } from "./limits.ts";
import { MessageSocket } from "./message-socket.ts";

export class AgentChannel implements Disposable {
  readonly #messages: MessageSocket;
  readonly #clock: Clock;
  readonly #limits: SshKeysLimits;
  #waiting: Deferred<Buffer> | undefined;
  #isClosed = false;

  private constructor(socket: Socket, clock: Clock, limits: SshKeysLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#messages = new MessageSocket({
      socket,
      clock,
      // The box's side has the time limits; this one is open as long as that one is.
      limits: { ...limits, idleMs: 2 ** 31 - 1 },
      onMessage: async (message) => this.#waiting?.resolve(message),
      onClosed: () => {
        this.#isClosed = true;
        this.#waiting?.reject(gone());
      },
    });
  }

  static async open(path: string, clock: Clock, limits: SshKeysLimits): Promise<AgentChannel> {
    const socket = connect(path);
    await once(socket, "connect");
    return new AgentChannel(socket, clock, limits);
  }

  async ask(message: Buffer): Promise<Buffer> {
    if (this.#isClosed) throw gone();
    this.#waiting = deferred<Buffer>();
    const cancel = this.#clock.after(this.#limits.agentAnswerMs, () => this.#messages.close());
    this.#messages.send(message);
    try {
      return await this.#waiting.promise;
    } finally {
      cancel();
      this.#waiting = undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#messages.close();
  }
}

const gone = (): AgentBoxError =>
  new AgentBoxError("secret.unavailable", "The ssh agent of the box did not answer.");
