/**
 * Threat 44: a use or a refusal of a secret that is on no record, or a record that has the secret in it. Each request leaves
 * exactly one, with its reason, in the records of the gate, in `vault audit` and in the chained log.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { BoxEvent } from "../../src/contract/events.ts";
import { searchDisk, searchWords } from "../support/canary-search.ts";
import { recordsOf, shell } from "../support/network-ground.ts";
import {
  boxOf,
  entry,
  grant,
  makeCanary,
  mustCli,
  onVault,
  sayNo,
  setSecret,
} from "../support/vault-ground.ts";

const box = "recorded";
const broken = `${makeCanary()}\nX-Injected: yes`;

const mirrorSecret = (name: string, secret: string, path: string): string =>
  entry(name, "mirror.test", `how = "bearer"\npaths = ["/${path}"]`).replace(
    "vault:token",
    `vault:${secret}`,
  );
const manifest = [
  '[network]\nallow = ["mirror.test"]\n',
  entry("mirror", "mirror.test", 'how = "bearer"\npaths = ["/echo", "/packed/**"]\nenv = "MIRROR_TOKEN"'),
  mirrorSecret("broken", "broken", "error"),
  mirrorSecret("absent", "absent", "headers"),
  mirrorSecret("never", "never-agreed", "pieces"),
].join("");

/** Every way a request with a secret can end, and what is written down about it. */
const cases = [
  { curl: "https://mirror.test/echo", record: { verdict: "allow", secret: "token", isInjected: true } },
  {
    curl: "-u me:other https://mirror.test/echo",
    record: { verdict: "deny", reason: "foreign_credential" },
  },
  {
    // Its head may have gone already when the body shows the placeholder; then the record says so.
    curl: '-d "$MIRROR_TOKEN" https://mirror.test/echo',
    record: { verdict: "deny", reason: "secret_misplaced", secret: "token" },
  },
  {
    curl: "https://mirror.test/packed/x-own",
    record: { verdict: "deny", reason: "secret_in_answer", secret: "token", isInjected: true },
  },
  {
    curl: "https://mirror.test/error",
    record: { verdict: "deny", reason: "secret_unusable", secret: "broken", isInjected: false },
  },
  {
    curl: "https://mirror.test/headers",
    record: { verdict: "deny", reason: "secret_unavailable", secret: "absent", isInjected: false },
  },
  {
    curl: "https://mirror.test/pieces",
    record: { verdict: "deny", reason: "secret_not_granted", secret: "never-agreed", isInjected: false },
  },
] as const;

onVault(
  "a secret's records",
  (ground) => {
    it("are one for each request, whatever became of it", async () => {
      const { daemon, canary } = ground;
      await using _person = sayNo(daemon, box);
      const { curl: first } = cases[0];
      for (const { curl, record } of cases) {
        const before = (await recordsOf(daemon, box)).length;
        const { stdout } = await shell(daemon, box, `curl -sS ${curl}`);
        const since = await waitFor("it is recorded", async () => {
          const records = (await recordsOf(daemon, box)).slice(before);
          return records.length > 0 ? records : undefined;
        });
        expect(since, `${curl}: ${stdout}`).toEqual([
          expect.objectContaining({ host: "mirror.test", ...record }),
        ]);
        if (curl !== first) expect(stdout).toContain('"by":"AgentBox"');
        expect(stdout).not.toContain(canary);
      }
      // None of the refused requests went out without it in the secret's place.
      const sent = (await ground.network.arrivals()).flatMap((one) => (one.kind === "http" ? [one] : []));
      expect(sent.map(({ url }) => url)).toEqual(["/echo", "/packed/x-own"]);
      for (const { headers } of sent) expect(headers["authorization"]).toBe(`Bearer ${canary}`);
    });

    it("stay one for each when the program hangs up at once, over HTTP/2", async () => {
      const { daemon } = ground;
      const before = (await recordsOf(daemon, box)).length;
      const put = "curl -sS -o /dev/null -X PUT -d stolen -u me:other https://mirror.test/echo";
      await shell(daemon, box, `for n in $(seq 50); do ${put}; done`);
      const since = (await recordsOf(daemon, box)).slice(before);
      expect(since.map(({ reason }) => reason)).toEqual(Array(50).fill("foreign_credential"));
    });

    it("are the same in vault audit, in net and as events of a log that is whole", async () => {
      const { daemon } = ground;
      const { records } = await daemon.json<{ records: { secret?: string; reason?: string }[] }>([
        "vault",
        "audit",
        "--limit",
        "200",
        "--box",
        box,
      ]);
      const named = cases.filter(({ record }) => "secret" in record);
      expect(records.length).toBeGreaterThanOrEqual(named.length);
      for (const { record } of named) {
        const reason = "reason" in record ? record.reason : undefined;
        expect(records.filter((one) => one.reason === reason)).toHaveLength(1);
      }
      const events = await waitFor("the refusals are events", async () => {
        const find = async (type: BoxEvent["type"]) =>
          (await daemon.client.listEvents({ type, box, limit: 100 })).events;
        const [used, refused] = [await find("secret.used"), await find("secret.refused")];
        return refused.length > 0 && used.length > 0 ? { used, refused } : undefined;
      });
      // Where a head had gone out before the refusal, the event is that of a use, with the reason.
      const reasons = [...events.refused, ...events.used].map(({ data }) => JSON.stringify(data)).join("\n");
      for (const { record } of named) if ("reason" in record) expect(reasons).toContain(record.reason);
      expect((await mustCli(daemon, ["net", box])).stdout).toMatch(/token/);
      await mustCli(daemon, ["audit", "verify"]);
    });

    it("have no value in them: neither they, nor a log, an event, a file or what a person is shown", async () => {
      const { daemon, canary } = ground;
      const values = [canary, broken.split("\n")[0]!];
      expect((await searchWords(daemon, box, ...values)).found).toEqual([]);
      expect(searchDisk(daemon.home, ...values).found).toEqual([]);
      // The control: words that are there are found, in what is said and in what is kept.
      const { found } = await searchWords(daemon, box, "secret_unusable");
      expect(found).toEqual(expect.arrayContaining(["events", "egress records", "receipts"]));
      expect(searchDisk(daemon.home, "secret_unusable").found.some((path) => path.includes("state.db"))).toBe(
        true,
      );
    });
  },
  {
    async prepare({ daemon }) {
      await setSecret(daemon, "broken", broken);
      // By reference, to a file that is not there.
      await mustCli(daemon, ["vault", "set", "absent", "--ref", `file:${join(daemon.scratch, "absent")}`]);
      await setSecret(daemon, "never-agreed", makeCanary());
      await boxOf(daemon, box, manifest);
      for (const secret of ["token", "broken", "absent"]) await grant(daemon, secret, box);
    },
  },
);
