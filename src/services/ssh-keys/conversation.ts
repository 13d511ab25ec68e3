/**
 * One program in the box and the agent with its keys. Guarantees that only a list, a session's bind and a signature
 * that was decided, authorised and recorded ever reach the agent; everything else is answered with a failure here.
 */
import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { SshKeysListener } from "../../ports/ssh-keys.ts";
import type { AgentChannel } from "./agent-channel.ts";
import {
  failureMessage,
  identitiesAnswer,
  identitiesRequest,
  messageKind,
  parseIdentities,
  parseSessionBind,
  parseSignRequest,
  type SessionBind,
} from "./agent-messages.ts";
import type { RingKey } from "./key-ring.ts";
import type { SshKeysLimits } from "./limits.ts";
import { MessageSocket } from "./message-socket.ts";
import { decideSign, signRefusals } from "./sign-decision.ts";

export interface ConversationOptions {
  readonly box: GateBox;
  readonly socket: Duplex;
  /** Opened with the first message, so that a program which says nothing starts nothing. */
  readonly open: () => Promise<ConversationKeys>;
  readonly listener: Pick<SshKeysListener, "authorise" | "signed">;
  readonly clock: Clock;
  readonly limits: SshKeysLimits;
}

export interface ConversationKeys {
  readonly channel: Pick<AgentChannel, "ask"> & Disposable;
  find(key: Buffer): RingKey | undefined;
}

export class Conversation {
  readonly #options: ConversationOptions;
  readonly #ended = new AbortController();
  #keys: ConversationKeys | undefined;
  #bind: SessionBind | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { socket, clock, limits } = options;
    const messages = new MessageSocket({
      socket,
      clock,
      limits,
      // SECURITY: an error we did not think of is a refusal; it never lets a message through.
      onMessage: async (message) => messages.send(await this.#answer(message).catch(() => failureMessage)),
      onClosed: () => {
        this.#ended.abort();
        this.#keys?.channel[Symbol.dispose]();
      },
    });
  }

  async #answer(message: Buffer): Promise<Buffer> {
    switch (message.readUInt8()) {
      case messageKind.requestIdentities:
        return message.length === 1 ? this.#list() : failureMessage;
      case messageKind.extension:
        return this.#bindSession(message);
      case messageKind.signRequest:
        return this.#sign(message);
      default:
        // SECURITY: adding, removing and locking keys, smart cards and every other extension stop here.
        return failureMessage;
    }
  }

  async #open(): Promise<ConversationKeys> {
    if (this.#keys) return this.#keys;
    this.#keys = await this.#options.open();
    if (this.#ended.signal.aborted) this.#keys.channel[Symbol.dispose]();
    return this.#keys;
  }

  /** With names of ours: what a key's file says about its owner is not the box's to know. */
  async #list(): Promise<Buffer> {
    if (this.#bind?.isForwarding) return failureMessage;
    const keys = await this.#open();
    const listed = parseIdentities(await keys.channel.ask(identitiesRequest));
    if (listed === undefined) return failureMessage;
    return identitiesAnswer(
      listed.flatMap((key) => {
        const known = keys.find(key);
        return known === undefined ? [] : [{ key, comment: known.binding.name }];
      }),
    );
  }

  /** A connection belongs to one session, for good; what the agent did not accept binds nothing. */
  async #bindSession(message: Buffer): Promise<Buffer> {
    const bind = parseSessionBind(message);
    if (bind === undefined || this.#bind !== undefined) return failureMessage;
    // SECURITY: from now on a server speaks here, however the client takes our answer.
    if (bind.isForwarding) {
      this.#bind = bind;
      return failureMessage;
    }
    const { channel } = await this.#open();
    const answer = await channel.ask(message);
    if (answer[0] === messageKind.success) this.#bind = bind;
    return answer;
  }

  async #sign(message: Buffer): Promise<Buffer> {
    const { box, listener } = this.#options;
    const request = parseSignRequest(message);
    if (request === undefined) return failureMessage;
    const keys = await this.#open();
    const key = keys.find(request.key);
    // Not a key of the box's, so there is nothing it could be refused.
    if (key === undefined) return failureMessage;
    const decision = decideSign(request, this.#bind, key.servers);
    if (!decision.allow) {
      listener.signed(box, key.binding, undefined, signRefusals[decision.refusal]);
      return failureMessage;
    }
    const { binding, destination } = decision;
    const isAgreed = await listener
      .authorise(box, binding, destination, this.#ended.signal)
      .catch(() => false);
    if (!isAgreed) {
      listener.signed(box, binding, destination, signRefusals.not_granted);
      return failureMessage;
    }
    // The program has gone away, so no signature is made.
    if (this.#ended.signal.aborted) {
      listener.signed(box, binding, destination, signRefusals.gone);
      return failureMessage;
    }
    const answer = await keys.channel.ask(message).catch(() => failureMessage);
    const isSigned = answer[0] === messageKind.signResponse;
    listener.signed(box, binding, destination, isSigned ? undefined : signRefusals.agent_refused);
    return isSigned ? answer : failureMessage;
  }
}
