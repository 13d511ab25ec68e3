/** The messages of ssh's agent protocol that a box may use, and what a signature is asked for. All of it is pure. */
import { parseWhole, wireBytes, wireNumber } from "./wire.ts";

export const messageKind = {
  failure: 5,
  success: 6,
  requestIdentities: 11,
  identitiesAnswer: 12,
  signRequest: 13,
  signResponse: 14,
  extension: 27,
} as const;

export const failureMessage = Buffer.from([messageKind.failure]);
export const identitiesRequest = Buffer.from([messageKind.requestIdentities]);

/**
 * The session binding that an ssh client sends before it asks: with which server it speaks, and whether the agent is
 * forwarded.
 */
export interface SessionBind {
  readonly hostKey: Buffer;
  readonly sessionId: Buffer;
  readonly isForwarding: boolean;
}

export function parseSessionBind(message: Buffer): SessionBind | undefined {
  return parseWhole(message, (reader) => {
    if (reader.byte() !== messageKind.extension) return undefined;
    if (reader.text() !== "session-bind@openssh.com") return undefined;
    const [hostKey, sessionId] = [reader.bytes(), reader.bytes()];
    // The host's signature: the agent checks it, and only what it accepted counts.
    reader.bytes();
    return { hostKey, sessionId, isForwarding: reader.byte() !== 0 };
  });
}

export interface SignRequest {
  readonly key: Buffer;
  readonly data: Buffer;
}

export function parseSignRequest(message: Buffer): SignRequest | undefined {
  return parseWhole(message, (reader) => {
    if (reader.byte() !== messageKind.signRequest) return undefined;
    const request = { key: reader.bytes(), data: reader.bytes() };
    // Which hash an RSA signature uses.
    reader.number();
    return request;
  });
}

/** The data that is signed to sign in to a server; nothing else has this form. */
export interface SignIn {
  readonly sessionId: Buffer;
  readonly user: string;
  readonly key: Buffer;
  /** With the newer method the server's key is part of what is signed. */
  readonly hostKey: Buffer | undefined;
}

const userAuthRequest = 50;

/**
 * SECURITY: a signature over anything but a sign-in (a git commit, a file, a certificate, another protocol) is a
 * signature that a box could take elsewhere, so anything else is undefined.
 */
export function parseSignIn(data: Buffer): SignIn | undefined {
  return parseWhole(data, (reader) => {
    const sessionId = reader.bytes();
    if (reader.byte() !== userAuthRequest) return undefined;
    const user = reader.text();
    if (reader.text() !== "ssh-connection") return undefined;
    const method = reader.text();
    const isHostBound = method === "publickey-hostbound-v00@openssh.com";
    if (!isHostBound && method !== "publickey") return undefined;
    if (reader.byte() !== 1) return undefined;
    // The algorithm: whether it fits the key is for the agent and the server.
    reader.bytes();
    const key = reader.bytes();
    return { sessionId, user, key, hostKey: isHostBound ? reader.bytes() : undefined };
  });
}

/** The public keys in an agent's list; undefined for another message. */
export function parseIdentities(message: Buffer): readonly Buffer[] | undefined {
  return parseWhole(message, (reader) => {
    if (reader.byte() !== messageKind.identitiesAnswer) return undefined;
    const keys: Buffer[] = [];
    for (let left = reader.number(); left > 0; left -= 1) {
      keys.push(reader.bytes());
      reader.bytes();
    }
    return keys;
  });
}

export const identitiesAnswer = (
  keys: readonly { readonly key: Buffer; readonly comment: string }[],
): Buffer =>
  Buffer.concat([
    Buffer.from([messageKind.identitiesAnswer]),
    wireNumber(keys.length),
    ...keys.flatMap(({ key, comment }) => [wireBytes(key), wireBytes(comment)]),
  ]);
