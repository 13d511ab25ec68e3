import { once } from "node:events";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../host/clock.ts";
import type { SshKeysListener } from "../../ports/ssh-keys.ts";
import { failureMessage, identitiesAnswer, messageKind, parseIdentities } from "./agent-messages.ts";
import { Conversation } from "./conversation.ts";
import { type SshKeysLimits, sshKeysLimits } from "./limits.ts";
import { signRefusals } from "./sign-decision.ts";
import {
  FixtureHost,
  FixtureProgram,
  fileSignature,
  git,
  newSession,
  signInData,
  signMessage,
  sshBinding,
} from "./ssh-keys.fixture.ts";
import { wireBytes } from "./wire.ts";

const host = new FixtureHost();
const key = Buffer.concat([wireBytes("ssh-ed25519"), wireBytes("a public key")]);
const binding = sshBinding("deploy", [git]);
const ringKey = {
  binding,
  servers: [{ binding, destination: git, hostKeys: new Set([host.blob.toString("base64")]) }],
};
const success = Buffer.from([messageKind.success]);
const signature = Buffer.concat([Buffer.from([messageKind.signResponse]), wireBytes("signed")]);

interface Opened {
  readonly program: FixtureProgram;
  /** The messages that reached the agent. */
  readonly asked: Buffer[];
  readonly records: (string | undefined)[];
}

const programs: FixtureProgram[] = [];
afterEach(() => {
  for (const program of programs.splice(0)) program.socket.destroy();
});

interface Setting {
  readonly limits?: Partial<SshKeysLimits>;
  readonly authorise?: SshKeysListener["authorise"];
}

/** An agent that agrees to everything: every refusal here is the filter's. */
function converse({ limits = {}, authorise = async () => true }: Setting = {}): Opened {
  const program = new FixtureProgram();
  programs.push(program);
  const asked: Buffer[] = [];
  const records: (string | undefined)[] = [];
  const ask = async (message: Buffer): Promise<Buffer> => {
    asked.push(message);
    if (message[0] === messageKind.requestIdentities)
      return identitiesAnswer([
        { key, comment: "person@laptop" },
        { key: wireBytes("a stranger"), comment: "" },
      ]);
    return message[0] === messageKind.signRequest ? signature : success;
  };
  void new Conversation({
    box: { name: "b", incarnation: "i" },
    socket: program.far,
    open: async () => ({
      channel: { ask, [Symbol.dispose]: () => undefined },
      find: (blob) => (blob.equals(key) ? ringKey : undefined),
    }),
    listener: { authorise, signed: (_box, _binding, _place, refusal) => records.push(refusal) },
    clock: systemClock,
    limits: { ...sshKeysLimits, ...limits },
  });
  return { program, asked, records };
}

test("a session is bound, keys are listed under our names, and a sign-in is signed and recorded", async () => {
  const { program, asked, records } = converse();
  const sessionId = newSession();
  expect(await program.ask(host.bind(sessionId))).toEqual(success);
  const listed = await program.ask(Buffer.from([messageKind.requestIdentities]));
  expect(parseIdentities(listed)).toEqual([key]);
  expect(listed.toString()).toContain("deploy");
  expect(listed.toString()).not.toContain("laptop");
  expect(await program.ask(signMessage(key, signInData({ sessionId, key })))).toEqual(signature);
  expect(records).toEqual([undefined]);
  expect(asked).toHaveLength(3);
});

describe("what does not reach the agent", () => {
  const others = Array.from({ length: 256 }, (_, kind) => kind).filter(
    (kind) => ![11, 13, 27].includes(kind),
  );

  test("every other kind of message", async () => {
    const { program, asked } = converse();
    for (const kind of others)
      expect(await program.ask(Buffer.from([kind, 0, 0, 0, 0]))).toEqual(failureMessage);
    expect(asked).toEqual([]);
  });

  test("every other extension, and a list with something behind it", async () => {
    const { program, asked } = converse();
    for (const name of ["query", "session-bind@openssh.com", "session-bind@openssh.com\0", ""])
      expect(await program.ask(Buffer.concat([Buffer.from([27]), wireBytes(name)]))).toEqual(failureMessage);
    expect(await program.ask(Buffer.from([11, 0]))).toEqual(failureMessage);
    expect(asked).toEqual([]);
  });

  test("whatever is sent: nothing but the three kinds, and no signature that was not authorised", async () => {
    const sessionId = newSession();
    const good = [host.bind(sessionId), signMessage(key, signInData({ sessionId, key })), Buffer.from([11])];
    const messages = fc.array(
      fc.oneof(
        fc.constantFrom(...good),
        fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        fc.tuple(fc.constantFrom(...good), fc.nat(), fc.nat({ max: 255 })).map(([bytes, at, value]) => {
          const copy = Buffer.from(bytes);
          copy[at % copy.length] = value;
          return copy;
        }),
      ),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(messages, async (sent) => {
        let authorised = 0;
        const { program, asked, records } = converse({
          authorise: async () => {
            authorised += 1;
            return authorised % 2 === 1;
          },
        });
        for (const message of sent) expect((await program.ask(message)).length).toBeGreaterThan(0);
        expect(asked.every((message) => [11, 13, 27].includes(message[0]!))).toBe(true);
        const signed = asked.filter((message) => message[0] === 13);
        expect(signed).toHaveLength(Math.ceil(authorised / 2));
        expect(records.filter((record) => record === undefined)).toHaveLength(signed.length);
        program.socket.destroy();
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ["a file's signature", fileSignature(), signRefusals.not_a_sign_in],
    ["another session", signInData({ sessionId: newSession(), key }), signRefusals.other_session],
  ])("%s, and it is recorded", async (_, data, refusal) => {
    const { program, asked, records } = converse();
    await program.ask(host.bind(newSession()));
    expect(await program.ask(signMessage(key, data))).toEqual(failureMessage);
    expect(records).toEqual([refusal]);
    expect(asked).toHaveLength(1);
  });

  test("anything from the server that the agent was forwarded to", async () => {
    const { program, asked, records } = converse();
    const sessionId = newSession();
    expect(await program.ask(host.bind(sessionId, true))).toEqual(failureMessage);
    // Neither by a session of the server's own, nor by no session.
    expect(await program.ask(host.bind(sessionId))).toEqual(failureMessage);
    expect(await program.ask(Buffer.from([11]))).toEqual(failureMessage);
    expect(await program.ask(signMessage(key, signInData({ sessionId, key })))).toEqual(failureMessage);
    expect(records).toEqual([signRefusals.forwarded]);
    expect(asked).toEqual([]);
  });

  test("a second session on the same connection", async () => {
    const { program, records } = converse();
    const [first, second] = [newSession(), newSession()];
    await program.ask(host.bind(first));
    expect(await program.ask(host.bind(second))).toEqual(failureMessage);
    expect(await program.ask(signMessage(key, signInData({ sessionId: second, key })))).toEqual(
      failureMessage,
    );
    expect(await program.ask(signMessage(key, signInData({ sessionId: first, key })))).toEqual(signature);
    expect(records).toEqual([signRefusals.other_session, undefined]);
  });
});

describe("a person who is asked", () => {
  test.each([
    ["says no", async () => false],
    [
      "cannot be asked",
      async () => {
        throw new Error("the store is gone");
      },
    ],
  ])("%s: no signature, and a record", async (_, authorise) => {
    const { program, asked, records } = converse({ authorise });
    const sessionId = newSession();
    await program.ask(host.bind(sessionId));
    expect(await program.ask(signMessage(key, signInData({ sessionId, key })))).toEqual(failureMessage);
    expect(records).toEqual([signRefusals.not_granted]);
    expect(asked).toHaveLength(1);
  });

  test("says yes after the program went away: the question ends, and there is no signature", async () => {
    let asking: AbortSignal | undefined;
    const { program, asked, records } = converse({
      authorise: async (_box, _binding, _place, signal) => {
        asking = signal;
        program.socket.destroy();
        program.far.destroy();
        await once(signal, "abort");
        return true;
      },
    });
    const sessionId = newSession();
    await program.ask(host.bind(sessionId));
    program.socket.write(wireBytes(signMessage(key, signInData({ sessionId, key }))));
    await expect.poll(() => records).toEqual([signRefusals.gone]);
    expect(asking?.aborted).toBe(true);
    expect(asked).toHaveLength(1);
  });
});

describe("a program that only keeps us busy is cut off", () => {
  const cut = async (program: FixtureProgram) => {
    if (!program.far.destroyed) await once(program.far, "close");
  };

  test.each([
    ["a message of no length", Buffer.alloc(4)],
    ["a message beyond the limit", Buffer.from([0x00, 0x04, 0x00, 0x01])],
    ["a message without end", Buffer.from([0xff, 0xff, 0xff, 0xff])],
  ])("%s", async (_, bytes) => {
    const { program, asked } = converse();
    program.socket.write(bytes);
    await cut(program);
    expect(asked).toEqual([]);
  });

  test("a message that does not go on, or none at all", async () => {
    const slow = converse({ limits: { messageMs: 30 } });
    slow.program.socket.write(Buffer.from([0, 0, 0, 9, 11]));
    await cut(slow.program);
    const idle = converse({ limits: { idleMs: 30 } });
    await cut(idle.program);
    expect([...slow.asked, ...idle.asked]).toEqual([]);
  });

  test("more messages than one at a time while somebody is asked", async () => {
    const { program, asked } = converse({ authorise: () => new Promise(() => undefined) });
    const sessionId = newSession();
    await program.ask(host.bind(sessionId));
    program.socket.write(wireBytes(signMessage(key, signInData({ sessionId, key }))));
    for (let sent = 0; sent < 16; sent++) program.socket.write(Buffer.alloc(64 * 1024, 1));
    await cut(program);
    expect(asked, "no signature was made").toHaveLength(1);
  });

  test("the control: the longest message that may be, in pieces of a byte at its end", async () => {
    const { program } = converse();
    const long = wireBytes(Buffer.alloc(sshKeysLimits.messageBytes, 1));
    program.socket.write(long.subarray(0, -3));
    for (const byte of long.subarray(-3)) program.socket.write(Buffer.from([byte]));
    expect(await program.answer()).toEqual(failureMessage);
  });
});
