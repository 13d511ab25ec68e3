import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIdentities, parseSessionBind, parseSignIn, parseSignRequest } from "./agent-messages.ts";
import { decideSign, type KnownServer } from "./sign-decision.ts";
import { FixtureHost, fileSignature, git, newSession, signInData, sshBinding } from "./ssh-keys.fixture.ts";
import { wireBytes } from "./wire.ts";

const host = new FixtureHost();
const other = new FixtureHost();
const key = Buffer.concat([wireBytes("ssh-ed25519"), wireBytes("a public key")]);
const sessionId = newSession();
const binding = sshBinding("deploy", [git]);
const known: KnownServer = { binding, destination: git, hostKeys: new Set([host.blob.toString("base64")]) };
const bound = { hostKey: host.blob, sessionId, isForwarding: false };

const decide = (data: Buffer, bind: typeof bound | undefined = bound, servers = [known]) =>
  decideSign({ key, data }, bind, servers);

describe("a sign-in to a bound server", () => {
  test.each([
    ["by the plain method", signInData({ sessionId, key })],
    ["by the method that names the server's key", signInData({ sessionId, key, hostKey: host.blob })],
  ])("%s may be signed", (_, data) => {
    expect(decide(data)).toEqual({ allow: true, ...known });
  });

  test("of any user, where the place says none", () => {
    const destination = { host: git.host, port: 22 };
    const data = signInData({ sessionId, key, user: "anybody" });
    expect(decide(data, bound, [{ ...known, destination }])).toMatchObject({
      allow: true,
      destination,
    });
    expect(decide(data)).toEqual({ allow: false, refusal: "other_user" });
  });
});

test.each([
  ["forwarded", signInData({ sessionId, key }), { ...bound, isForwarding: true }],
  ["not_a_sign_in", fileSignature(), bound],
  ["not_a_sign_in", Buffer.alloc(0), bound],
  ["not_a_sign_in", signInData({ sessionId, key, service: "ssh-userauth" }), bound],
  ["not_a_sign_in", signInData({ sessionId, key, method: "hostbased" }), bound],
  [
    "not_a_sign_in",
    signInData({ sessionId, key: Buffer.concat([wireBytes("ssh-ed25519"), wireBytes("another key")]) }),
    bound,
  ],
  ["not_a_sign_in", Buffer.concat([signInData({ sessionId, key }), Buffer.from([0])]), bound],
  ["not_a_sign_in", signInData({ sessionId, key }).subarray(0, -1), bound],
  ["other_session", signInData({ sessionId: newSession(), key }), bound],
  ["other_session", signInData({ sessionId, key, hostKey: other.blob }), bound],
  ["other_server", signInData({ sessionId, key }), { ...bound, hostKey: other.blob }],
  ["other_user", signInData({ sessionId, key, user: "root" }), bound],
  ["other_user", signInData({ sessionId, key, user: "git\0" }), bound],
] as const)("refused: %s (%#)", (refusal, data, bind) => {
  expect(decideSign({ key, data }, bind, [known])).toEqual({ allow: false, refusal });
});

test("without a bound session nothing is signed", () => {
  expect(decideSign({ key, data: signInData({ sessionId, key }) }, undefined, [known])).toEqual({
    allow: false,
    refusal: "not_bound",
  });
});

describe("whatever a box sends", () => {
  const parsers = [parseSessionBind, parseSignRequest, parseSignIn, parseIdentities];

  test("is read or refused, and never an error", () => {
    const good = [host.bind(sessionId), signInData({ sessionId, key, hostKey: host.blob })];
    const damaged = fc
      .tuple(fc.constantFrom(...good), fc.nat(), fc.integer({ min: 0, max: 255 }))
      .map(([bytes, at, value]) => {
        const copy = Buffer.from(bytes);
        copy[at % copy.length] = value;
        return copy;
      });
    const any = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.oneof(any, damaged), (bytes) => {
        for (const parse of parsers) parse(bytes);
      }),
      { numRuns: 2_000 },
    );
  });

  test("is signed only as it was decided: one other byte anywhere is another decision or the same server", () => {
    const data = signInData({ sessionId, key, hostKey: host.blob });
    fc.assert(
      fc.property(fc.nat({ max: data.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(data);
        changed[at] = changed[at]! ^ flip;
        const decision = decide(changed);
        // The algorithm's name is the one part that the filter leaves to the agent.
        const name = changed.indexOf(wireBytes(key)) - "ssh-ed25519".length;
        const isInName = at >= name && at < name + "ssh-ed25519".length;
        expect(decision.allow).toBe(isInName);
      }),
    );
  });
});
