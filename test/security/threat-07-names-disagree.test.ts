/**
 * Threat 7: three names of a host that do not agree (fronting). The name that was asked for, the name in the TLS
 * hello and the name in the request must be one, or the connection is refused before anything is dialed.
 */
import { expect, it } from "vitest";
import { boxOn, expectDenied, onNetwork } from "../support/network-ground.ts";
import { type Attempt, hasReached, tryOnce } from "./ways-in.ts";

const box = "names-box";
const get = (host: string) => `GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

interface Triple {
  readonly title: string;
  readonly attempt: Attempt;
}

const controls: readonly Triple[] = (["plain", "link", "connect"] as const).flatMap((way) => [
  { title: `${way}, TLS passed through`, attempt: { way, host: "api.test", port: 443, tlsName: "api.test" } },
  { title: `${way}, TLS inspected`, attempt: { way, host: "other.test", port: 443, tlsName: "other.test" } },
  { title: `${way}, no TLS`, attempt: { way, host: "api.test", port: 80 } },
]);

/** Both names are allowed wherever they are, so only their disagreement can be the reason. */
const mismatches: readonly Triple[] = (["plain", "link", "connect"] as const).flatMap((way) => [
  {
    title: `${way}: the hello names another allowed host`,
    attempt: { way, host: "api.test", port: 443, tlsName: "other.test" },
  },
  {
    title: `${way}: the hello names a denied host`,
    attempt: { way, host: "api.test", port: 443, tlsName: "denied.test" },
  },
  {
    title: `${way}: an inspected host with another hello`,
    attempt: { way, host: "other.test", port: 443, tlsName: "api.test" },
  },
  {
    title: `${way}: an inspected host with no name in the hello`,
    attempt: { way, host: "other.test", port: 443, tlsName: "" },
  },
  {
    title: `${way}: an inspected request for another allowed host`,
    attempt: { way, host: "other.test", port: 443, tlsName: "other.test", bytes: get("api.test") },
  },
  {
    title: `${way}: an inspected request for a denied host`,
    attempt: { way, host: "other.test", port: 443, tlsName: "other.test", bytes: get("denied.test") },
  },
  {
    title: `${way}: a plain request for a denied host`,
    attempt: { way, host: "api.test", port: 80, bytes: get("denied.test") },
  },
  {
    title: `${way}: a plain request for another allowed host`,
    attempt: { way, host: "api.test", port: 80, bytes: get("other.test") },
  },
]);

const proxyMismatches: readonly Triple[] = [
  {
    title: "absolute form with another Host",
    attempt: {
      way: "absolute",
      host: "api.test",
      port: 80,
      bytes: get("denied.test").replace("/x", "http://api.test/x"),
    },
  },
  {
    title: "absolute form with two Hosts",
    attempt: {
      way: "absolute",
      host: "api.test",
      port: 80,
      bytes: "GET http://api.test/x HTTP/1.1\r\nHost: api.test\r\nHost: denied.test\r\n\r\n",
    },
  },
];

onNetwork(
  "names that disagree",
  (ground) => {
    it.each(controls)("passes when they agree: $title", async ({ attempt }) => {
      const outcome = await tryOnce(ground.daemon, box, attempt);
      expect(hasReached(outcome), outcome.said).toBe(true);
    });

    it.each([...mismatches, ...proxyMismatches])("refuses $title", async ({ attempt }) => {
      const { daemon, network } = ground;
      await expectDenied(daemon, box, {}, async () => {
        const outcome = await tryOnce(daemon, box, { waitMs: 2_000, ...attempt });
        expect(hasReached(outcome), outcome.said).toBe(false);
      });
      expect((await network.arrivals()).filter(({ kind }) => kind === "http")).toEqual([]);
    });
  },
  {
    prepare: ({ daemon }) =>
      boxOn(daemon, box, { allow: ["api.test"], rules: [{ host: "other.test", inspect: true }] }),
  },
);
