/** Threat 44, for the log itself: who can write to the file can change it, and cannot change it unseen. */
import { join } from "node:path";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon();
  for (const name of ["one", "two", "three"])
    await daemon.client.addSecret({ name, value: Buffer.from(`value of ${name}`).toString("base64") });
  await daemon.client.removeSecret({ name: "two" });
});
afterAll(() => daemon?.[Symbol.asyncDispose]());

/** With write access to the file; triggers stop only our own mistakes. */
function edit(sql: string): void {
  const hand = new Database(join(daemon.home, "state.db"));
  hand.exec("DROP TRIGGER IF EXISTS events_never_change; DROP TRIGGER IF EXISTS events_never_go");
  hand.exec(sql);
  hand.close();
}

const verify = (...args: string[]) => daemon.cli(["audit", "verify", "--json", ...args]);

describe("the event log", () => {
  it("is whole until somebody changes it, and then names the first event that is not what was written", async () => {
    const whole = await verify();
    expect(whole, whole.stderr).toMatchObject({ code: 0 });
    const { events } = JSON.parse(whole.stdout) as { events: number };
    const [removed] = await daemon.client.listEvents({ type: "secret.removed" }).then((page) => page.events);
    expect(removed!.data).toMatchObject({ secret: "two" });
    const before = JSON.stringify(removed!.data);
    edit(`UPDATE events SET data = '{"secret":"none"}' WHERE id = ${removed!.id}`);
    const broken = await verify();
    expect(broken.code).toBe(1);
    expect(broken.stdout + broken.stderr).toContain("audit.broken");
    expect(broken.stdout + broken.stderr).toContain(`event ${removed!.id} `);
    edit(`UPDATE events SET data = '${before}' WHERE id = ${removed!.id}`);
    expect(await verify()).toMatchObject({ code: 0 });
    expect(events).toBeGreaterThanOrEqual(removed!.id);
  });

  it("that lost its end shows it to whoever noted the head", async () => {
    const { stdout } = await daemon.cli(["audit", "head"]);
    const head = stdout.trim();
    expect(head).toMatch(/^\d+:[0-9a-f]{64}$/);
    expect(await verify("--head", head)).toMatchObject({ code: 0 });
    const last = Number(head.split(":")[0]);
    edit(`DELETE FROM events WHERE id = ${last}`);
    // By itself it is a whole chain of one event less.
    expect(await verify()).toMatchObject({ code: 0 });
    const cut = await verify("--head", head);
    expect(cut.code).toBe(1);
    expect(cut.stdout + cut.stderr).toContain(`event ${last} `);
  });
});
