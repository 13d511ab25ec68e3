/** The heart of the egress tests as one function, to be run again after everything that restarts. */
import { expect } from "vitest";
import { addresses } from "../support/network.ts";
import { boxOn, expectDenied, type NetworkGround, shell, withoutProxy } from "../support/network-ground.ts";

/** A box for `expectSamePolicy`. */
export const suiteBox = (
  { daemon }: NetworkGround,
  name: string,
  flags: Record<string, unknown> = {},
): Promise<string> =>
  boxOn(
    daemon,
    name,
    { allow: ["api.test"], rules: [{ host: "other.test", methods: ["GET"], paths: ["/open/**"] }] },
    flags,
  );

/** Allowed requests work in every way, others are refused with a record, and nothing else leaves. */
export async function expectSamePolicy({ daemon, network }: NetworkGround, box: string): Promise<void> {
  for (const prefix of ["", `${withoutProxy.join(" ")} `]) {
    const curl = (args: string) => shell(daemon, box, `${prefix}curl -sSf -m 10 ${args}`);
    for (const url of ["http://api.test/x", "https://api.test/x", "https://other.test/open/x"]) {
      const answer = await curl(url);
      expect(answer, `${prefix}${url}`).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("the internet"),
      });
    }
    await network.forget();
    const refused = async (args: string, record: Record<string, unknown>) =>
      expectDenied(daemon, box, record, async () => expect((await curl(args)).code, args).not.toBe(0));
    await refused("http://denied.test/x", { host: "denied.test", port: 80, reason: "no_rule" });
    await refused("https://denied.test/x", { host: "denied.test", port: 443, reason: "no_rule" });
    await refused("-X POST -d out https://other.test/open/x", { host: "other.test", reason: "wrong_method" });
    await refused("https://other.test/closed", { host: "other.test", reason: "wrong_path" });
    expect((await network.arrivals()).filter(({ kind }) => kind === "http")).toEqual([]);
  }
  await network.forget();
  const packets = network.packets();
  const lookups = ["@127.0.0.1", `@${addresses.publicDns}`, `@${addresses.dns}`];
  await shell(daemon, box, lookups.map((at) => `dig +tries=1 +time=1 ${at} s3cret.denied.test`).join("; "));
  await shell(
    daemon,
    box,
    `ping -c1 -W1 ${addresses.web}; curl -sS -m 2 --noproxy '*' http://${addresses.web}/`,
  );
  expect(await network.arrivals()).toEqual([]);
  expect(network.packets()).toBe(packets);
}
