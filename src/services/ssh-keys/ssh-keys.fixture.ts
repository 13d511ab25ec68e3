/** An ssh client as far as its agent sees it: host keys of its own, sessions with them, and the questions about those. */
import { fail } from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { type Duplex, duplexPair } from "node:stream";
import type { SecretBinding, SshDestination } from "../../contract/secret/binding.ts";
import { messageKind } from "./agent-messages.ts";
import { wireBytes, wireNumber } from "./wire.ts";

export class FixtureHost {
  readonly blob: Buffer;
  readonly #key: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
    this.blob = Buffer.concat([wireBytes("ssh-ed25519"), wireBytes(raw)]);
    this.#key = privateKey;
  }

  /** A line of a known_hosts file. */
  line(name: string): string {
    return `${name} ssh-ed25519 ${this.blob.toString("base64")}\n`;
  }

  /** The session binding that an ssh client sends after the key exchange. */
  bind(sessionId: Buffer, isForwarding = false, signed = sessionId): Buffer {
    const signature = Buffer.concat([wireBytes("ssh-ed25519"), wireBytes(sign(null, signed, this.#key))]);
    return Buffer.concat([
      Buffer.from([messageKind.extension]),
      wireBytes("session-bind@openssh.com"),
      wireBytes(this.blob),
      wireBytes(sessionId),
      wireBytes(signature),
      Buffer.from([isForwarding ? 1 : 0]),
    ]);
  }
}

export const newSession = (): Buffer => randomBytes(32);

export interface FixtureSignIn {
  readonly sessionId: Buffer;
  readonly key: Buffer;
  readonly user?: string;
  readonly hostKey?: Buffer;
  readonly service?: string;
  readonly method?: string;
}

/** The data that a client signs to sign in. */
export function signInData({ sessionId, key, user = "git", hostKey, ...more }: FixtureSignIn): Buffer {
  const method = hostKey === undefined ? "publickey" : "publickey-hostbound-v00@openssh.com";
  return Buffer.concat([
    wireBytes(sessionId),
    Buffer.from([50]),
    wireBytes(user),
    wireBytes(more.service ?? "ssh-connection"),
    wireBytes(more.method ?? method),
    Buffer.from([1]),
    // A public key begins with the name of its kind.
    key.subarray(0, 4 + key.readUInt32BE()),
    wireBytes(key),
    ...(hostKey === undefined ? [] : [wireBytes(hostKey)]),
  ]);
}

export const signMessage = (key: Buffer, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from([messageKind.signRequest]), wireBytes(key), wireBytes(data), wireNumber(0)]);

/** The data that `ssh-keygen -Y sign` and git ask to be signed. */
export const fileSignature = (): Buffer =>
  Buffer.concat([
    Buffer.from("SSHSIG"),
    wireBytes("git"),
    wireBytes(""),
    wireBytes("sha512"),
    wireBytes(randomBytes(64)),
  ]);

/** A program in the box: sends a message and waits for the answer, or for the end. */
export class FixtureProgram {
  readonly socket: Duplex;
  /** The host's end. */
  readonly far: Duplex;
  #received = Buffer.alloc(0);

  constructor() {
    [this.socket, this.far] = duplexPair();
    this.socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.socket.emit("received");
    });
    this.socket.on("error", () => undefined);
    this.socket.on("end", () => this.socket.destroy());
  }

  async ask(message: Buffer): Promise<Buffer> {
    this.socket.write(wireBytes(message));
    return this.answer();
  }

  async answer(): Promise<Buffer> {
    const isThere = (): boolean =>
      this.#received.length >= 4 && this.#received.length >= 4 + this.#received.readUInt32BE();
    while (!isThere()) {
      if (this.far.destroyed) fail("The connection was closed.");
      const waited = new AbortController();
      const { signal } = waited;
      await Promise.race([once(this.socket, "received", { signal }), once(this.far, "close", { signal })]);
      waited.abort();
    }
    const length = this.#received.readUInt32BE();
    const answer = this.#received.subarray(4, 4 + length);
    this.#received = this.#received.subarray(4 + length);
    return answer;
  }
}

export const sshBinding = (
  secret: string,
  destinations: readonly SshDestination[],
  more: Partial<SecretBinding> = {},
): SecretBinding => ({
  name: secret,
  secret,
  use: { kind: "ssh", destinations: [...destinations], confirm: false },
  env: [],
  prefix: "",
  isOrdered: false,
  ...more,
});

export const git: SshDestination = { host: "git.example", port: 22, user: "git" };
