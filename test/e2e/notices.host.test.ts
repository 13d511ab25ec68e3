/** Notices from a real daemon to real receivers, added at the command line. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { onAgents } from "../support/agents.ts";
import {
  type MailReceiver,
  type WebReceiver,
  startMailReceiver,
  startWebReceiver,
} from "../support/notice-receivers.ts";
import { endAll } from "../support/end-all.ts";

onAgents("notices", { fixtures: ["notebot"] }, (ground) => {
  let web: WebReceiver;
  let mail: MailReceiver;
  beforeAll(async () => {
    [web, mail] = await Promise.all([startWebReceiver(), startMailReceiver(undefined)]);
  });
  afterAll(() => endAll(web, mail));

  it("reach Slack, ntfy and a mailbox when an agent is done, also after a crash of the daemon", async () => {
    const { daemon } = ground;
    const { appendFile } = await import("node:fs/promises");
    await appendFile(
      `${daemon.home}/config.toml`,
      `\n[notices.smtp]\nhost = "127.0.0.1"\nport = ${mail.port}\ntls = "none"\nfrom = "AgentBox <a@example.org>"\n`,
    );
    const add = (args: readonly string[], stdin = "") => daemon.cli(["notify", "add", ...args], { stdin });
    const hook = `${web.origin}/services/canary-address`;
    expect(await add(["slack", hook])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("a secret"),
    });
    for (const result of [
      await add(["slack"], `${hook}\n`),
      await add(["ntfy", `${web.origin}/agents`, "--on", "done"]),
      await add(["email", "ada@example.org"]),
    ])
      expect(result, result.stderr).toMatchObject({ code: 0 });
    expect(web.posts.map(({ path }) => path)).toEqual(["/services/canary-address", "/"]);
    const listed = await daemon.cli(["notify"]);
    expect(listed.stdout).toContain("ada@example.org");
    expect(listed.stdout).not.toContain("canary");

    await daemon.kill();
    await daemon.start();
    const project = await ground.project({ "a.txt": "a\n" });
    const run = await daemon.cli(["run", "notebot", "--task", "write it", "--name", "shop-fix"], {
      cwd: project,
    });
    expect(run, run.stderr).toMatchObject({ code: 0 });
    const texts = () => web.posts.map(({ value }) => JSON.stringify(value));
    await waitFor(
      "all three are told",
      () =>
        texts().filter((text) => text.includes("shop-fix is done")).length === 2 && mail.mails.length === 2,
    );
    expect(mail.mails[1]?.text).toContain("Subject: [AgentBox] shop-fix is done");
    const { events } = await daemon.client.listEvents({ limit: 1_000 });
    const told = events.filter(({ type }) => type === "notice.sent");
    expect(new Set(told.map(({ data }) => data["kind"]))).toEqual(new Set(["slack", "ntfy", "email"]));
    expect(JSON.stringify(events)).not.toContain("canary-address");
  });

  it("that cannot arrive are refused when their receiver is added, with the way out", async () => {
    const { daemon } = ground;
    web.status = 404;
    const result = await daemon.cli(["notify", "add", "slack"], { stdin: `${web.origin}/gone-canary\n` });
    web.status = 200;
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain("it answered 404");
    expect(result.stderr).not.toContain("canary");
    const { receivers } = await daemon.json<{ receivers: { id: string; kind: string }[] }>(["notify", "ls"]);
    expect(receivers).toHaveLength(3);
    for (const { id } of receivers) await daemon.json(["notify", "rm", id]);
    expect((await daemon.cli(["notify"])).stdout).toContain("nowhere yet");
  });
});
