import { describe, expect, it } from "vitest";
import { systemClock } from "../../host/clock.ts";
import { TeamTransactions } from "./transactions.ts";

const checks = { issuer: "i", redirectUri: "r", state: "s", nonce: "n", verifier: "v" };
const refused = expect.objectContaining({ code: "sign_in.refused" });

function open() {
  let aheadMs = 0;
  const timers = new Set<() => void>();
  const after = (_ms: number, callback: () => void) => {
    timers.add(callback);
    return () => timers.delete(callback);
  };
  const clock = { ...systemClock, monotonicMs: () => 1_000 + aheadMs, after };
  const transactions = new TeamTransactions(() => clock);
  const putForward = (ms: number): void => {
    aheadMs += ms;
    for (const callback of timers) callback();
  };
  return { transactions, putForward };
}

describe("a sign-in that has begun", () => {
  it("is finished by the browser that began, once", () => {
    const { transactions } = open();
    const { cookie, secret } = transactions.add(checks);
    expect(transactions.take("s", { cookies: ["foreign", cookie], secret })).toEqual(checks);
    expect(() => transactions.take("s", { cookies: [cookie], secret })).toThrow(refused);
  });

  it.each<[string, (halves: { cookie: string; secret: string }) => { cookies: string[]; secret: string }]>([
    ["without the cookie", ({ secret }) => ({ cookies: [], secret })],
    ["with another cookie", ({ secret }) => ({ cookies: ["other"], secret })],
    ["with another secret", ({ cookie }) => ({ cookies: [cookie], secret: "other" })],
    ["with the halves exchanged", ({ cookie, secret }) => ({ cookies: [secret], secret: cookie })],
  ])("is refused %s, and then for everybody", (_, change) => {
    const { transactions } = open();
    const halves = transactions.add(checks);
    expect(() => transactions.take("s", change(halves))).toThrow(refused);
    expect(() => transactions.take("s", { cookies: [halves.cookie], secret: halves.secret })).toThrow(
      refused,
    );
  });

  it("ends after ten minutes", () => {
    const { transactions, putForward } = open();
    const { cookie, secret } = transactions.add(checks);
    putForward(10 * 60_000);
    expect(() => transactions.take("s", { cookies: [cookie], secret })).toThrow(refused);
  });

  it("pushes nobody out: too many at a time are refused", () => {
    const { transactions, putForward } = open();
    for (let count = 0; count < 150; count += 1) transactions.admit();
    expect(() => transactions.admit()).toThrow(expect.objectContaining({ code: "access.too_many" }));
    putForward(61_000);
    expect(() => transactions.admit()).not.toThrow();
  });
});
