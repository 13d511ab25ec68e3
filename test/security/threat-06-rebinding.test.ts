/**
 * Threat 6: a name that leads elsewhere the second time. The address that was checked is the address that is connected
 * to; a forbidden one is refused however it is written and whenever it appears.
 */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { addresses } from "../support/network.ts";
import { boxOn, onNetwork, recordsOf } from "../support/network-ground.ts";
import { hasReached, tryInBox, tryOnce, type ArrivalKind } from "./ways-in.ts";

const box = "rebinding";
const wayIn: readonly ArrivalKind[] = ["plain", "connect", "absolute"];

const forbidden = [
  addresses.metadata,
  "127.0.0.1",
  "127.9.9.9",
  "0.0.0.0",
  addresses.host,
  addresses.host6,
  addresses.private,
  "172.16.0.1",
  "192.168.1.1",
  "100.64.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::1",
  "::",
  "fe80::1",
  "fd00::1",
  "::ffff:127.0.0.1",
  "::ffff:169.254.169.254",
  "64:ff9b::a9fe:a9fe",
  "2002:a9fe:a9fe::1",
];

/** A name of its own for each case, because the gate keeps an answer for a few seconds. */
let lastName = 0;
const freshName = (): string => `n${(lastName += 1)}.flip.test`;

onNetwork(
  "rebinding",
  (ground) => {
    const connectedTo = async (): Promise<readonly string[]> =>
      (await ground.network.arrivals()).flatMap((arrival) =>
        arrival.kind === "tcp" ? [arrival.address] : [],
      );

    it.each(forbidden)("never connects to %s, whatever name leads there", async (address) => {
      const { daemon, network } = ground;
      const bad = freshName();
      await network.setNames({ [bad]: [[address]] });
      const before = (await recordsOf(daemon, box)).length;
      const outcomes = await tryInBox(
        daemon,
        box,
        wayIn.map((way) => ({ way, host: bad, port: 80 })),
      );
      for (const outcome of outcomes) expect(hasReached(outcome), outcome.said).toBe(false);
      const records = (await recordsOf(daemon, box)).slice(before);
      expect(records.map(({ reason }) => reason)).toEqual(wayIn.map(() => "forbidden_range"));
      expect(await connectedTo()).toEqual([]);
      expect(await network.hostArrivals()).toEqual([]);
    });

    it("connects to the same kind of name when its address is a good one", async () => {
      const { daemon, network } = ground;
      for (const address of [addresses.web, addresses.web6]) {
        const host = freshName();
        await network.setNames({ [host]: [[address]] });
        for (const outcome of await tryInBox(
          daemon,
          box,
          wayIn.map((way) => ({ way, host, port: 80 })),
        ))
          expect(hasReached(outcome), outcome.said).toBe(true);
        expect(await connectedTo()).toContain(address);
      }
    });

    it("connects to the address it checked when the next answer would be another", async () => {
      const { daemon, network } = ground;
      for (const turned of [addresses.metadata, "127.0.0.1", addresses.host])
        for (const way of wayIn) {
          const host = freshName();
          await network.forget();
          await network.setNames({ [host]: [[addresses.web], [turned]] });
          // A second question between check and connection would get the bad answer.
          const outcome = await tryOnce(daemon, box, { way, host, port: 80 });
          expect(hasReached(outcome), `${way} ${turned}: ${outcome.said}`).toBe(true);
          expect(new Set(await connectedTo())).toEqual(new Set([addresses.web]));
          expect(await network.hostArrivals()).toEqual([]);
        }
    });

    it("checks again when a name is asked for again", async () => {
      const { daemon, network } = ground;
      const host = freshName();
      await network.setNames({ [host]: [[addresses.web], [addresses.metadata]] });
      expect(hasReached(await tryOnce(daemon, box, { way: "connect", host, port: 80 }))).toBe(true);
      await waitFor("the name leads elsewhere", async () => {
        const outcome = await tryOnce(daemon, box, { way: "connect", host, port: 80 });
        return !hasReached(outcome) && outcome.said.includes("forbidden_range");
      });
      expect(new Set(await connectedTo())).toEqual(new Set([addresses.web]));
    });

    it("does not check one of two addresses and then use the other", async () => {
      const { daemon, network } = ground;
      for (const pair of [
        [addresses.web, addresses.metadata],
        [addresses.metadata, addresses.web],
        [addresses.web6, "::1"],
        [addresses.web, "::ffff:127.0.0.1"],
      ]) {
        const host = freshName();
        await network.setNames({ [host]: [pair] });
        await tryInBox(
          daemon,
          box,
          wayIn.map((way) => ({ way, host, port: 80 })),
        );
        for (const address of await connectedTo()) expect([addresses.web, addresses.web6]).toContain(address);
        expect(await network.hostArrivals()).toEqual([]);
      }
    });
  },
  { prepare: ({ daemon }) => boxOn(daemon, box, { allow: ["*.flip.test"] }) },
);
