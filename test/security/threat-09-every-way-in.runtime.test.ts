/**
 * Threat 9: one way in skips the policy. The same table of destinations goes through every way from a box to the gate,
 * and each gets the same verdict; threats 4 and 5 (names that are read in two ways) go the same roads.
 */
import { expect, it } from "vitest";
import { addresses } from "../support/network.ts";
import { boxOn, onNetwork, recordsOf } from "../support/network-ground.ts";
import { hasReached, tryInBox, tryOnce, ways } from "./ways-in.ts";

const box = "ways-box";

interface Destination {
  readonly host: string;
  readonly port?: number;
  readonly isAllowed: boolean;
  /** Reasons that the record may give. */
  readonly reason?: RegExp;
}

const destinations: readonly Destination[] = [
  { host: "api.test", isAllowed: true },
  { host: "API.Test", isAllowed: true },
  { host: "api.test.", isAllowed: true },
  { host: "a.wild.test", isAllowed: true },
  { host: "six.test", isAllowed: true },
  { host: "wild.test", isAllowed: false, reason: /no_rule/ },
  { host: "denied.test", isAllowed: false, reason: /no_rule/ },
  { host: "notapi.test", isAllowed: false, reason: /no_rule/ },
  { host: "api.test.denied.test", isAllowed: false, reason: /no_rule/ },
  { host: "other.test", isAllowed: false, reason: /rule_denies/ },
  { host: "local.test", isAllowed: false, reason: /forbidden_range/ },
  { host: "private.test", isAllowed: false, reason: /forbidden_range/ },
  { host: "missing.test", isAllowed: false, reason: /unresolvable/ },
  { host: "api.test", port: 7000, isAllowed: false, reason: /wrong_port/ },
];

/** Texts that are no host names; on a plain connection they never get past the box's own resolver. */
const oddities = [
  addresses.web,
  addresses.metadata,
  addresses.host,
  "127.0.0.1",
  "localhost",
  "0x7f000001",
  "2130706433",
  "0177.0.0.1",
  "127.1",
  "[::1]",
  "[::ffff:169.254.169.254]",
  "[2001:db8:2::10]",
  "::ffff:169.254.169.254",
  "api.test\0.denied.test",
  "denied.test\0.api.test",
  "denied.test@api.test",
  "api.test@denied.test",
  "api.test%00.denied.test",
  "denied.test#.api.test",
  "denied.test?.api.test",
  "denied.test/.api.test",
  "denied.test\\.api.test",
  "api.test..",
  ".api.test",
  "api..test",
  "аpi.test",
  "xn--pi-7kc.test",
  "ⓐpi.test ",
  "*.wild.test",
  "*",
  "",
];

onNetwork(
  "every way in",
  (ground) => {
    it.each(destinations)("judges $host:$port alike on every way", async (destination) => {
      const { daemon, network } = ground;
      const { host, port = 80, isAllowed, reason } = destination;
      const before = (await recordsOf(daemon, box)).length;
      const outcomes = await tryInBox(
        daemon,
        box,
        ways.map((way) => ({ way, host, port })),
      );
      for (const [index, outcome] of outcomes.entries())
        expect(hasReached(outcome), `${ways[index]}: ${outcome.said}`).toBe(isAllowed);
      const records = (await recordsOf(daemon, box)).slice(before);
      expect(records.map(({ via }) => via).toSorted()).toEqual(["proxy", "proxy", "tcp", "tcp"]);
      for (const record of records) {
        expect(record).toMatchObject({ verdict: isAllowed ? "allow" : "deny", port });
        if (reason) expect(record.reason).toMatch(reason);
      }
      const reached = (await network.arrivals()).filter(({ kind }) => kind === "http");
      expect(reached).toHaveLength(isAllowed ? ways.length : 0);
      const connected = (await network.arrivals()).filter(({ kind }) => kind === "tcp");
      expect(connected.length > 0).toBe(isAllowed);
      expect(await network.hostArrivals()).toEqual([]);
    });

    it("reaches nothing under a name that only looks like one", async () => {
      const { daemon, network } = ground;
      const attempts = oddities.flatMap((host) =>
        (["link", "connect", "absolute"] as const).map((way) => ({ way, host, port: 80, waitMs: 1_500 })),
      );
      const outcomes = await tryInBox(daemon, box, attempts);
      for (const [index, outcome] of outcomes.entries())
        expect(hasReached(outcome), `${JSON.stringify(attempts[index])}: ${outcome.said}`).toBe(false);
      expect((await network.arrivals()).filter(({ kind }) => kind !== "dns")).toEqual([]);
      expect(await network.hostArrivals()).toEqual([]);
      // Each was refused on record, and the gate still lets through what it should.
      const refused = (await recordsOf(daemon, box)).filter(({ verdict }) => verdict === "deny");
      expect(refused.length).toBeGreaterThan(oddities.length);
      expect(hasReached(await tryOnce(daemon, box, { way: "connect", host: "api.test", port: 80 }))).toBe(
        true,
      );
    });
  },
  {
    prepare: ({ daemon }) =>
      boxOn(daemon, box, {
        allow: [
          "api.test",
          "*.wild.test",
          "six.test",
          "local.test",
          "private.test",
          "missing.test",
          "echo.test:7000",
          "other.test",
        ],
        rules: [{ host: "other.test", mode: "deny" }],
      }),
  },
);
