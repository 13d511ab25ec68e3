/**
 * Threats 16 and 20, the queue: a queued task is a box that is made later, and it must never do more than the one who
 * added it could do then, nor more than they can do when it starts.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { QueueAnswer } from "../../src/contract/api/schemas/queue.ts";
import { defineScribe } from "../support/scribe.ts";
import { type Answer, type TestTeam, type Visitor, startTeam } from "../support/team.ts";

describe("the queue", () => {
  let team: TestTeam;
  let project: string;
  let unlisted: string;
  let ana: Visitor;
  let bob: Visitor;
  let carl: Visitor;
  const flags = { agent: { name: "scribe" } };

  beforeAll(async () => {
    team = await startTeam();
    const { provider, daemon } = team;
    defineScribe(daemon);
    [project, unlisted] = [join(daemon.scratch, "project"), join(daemon.scratch, "notes")];
    mkdirSync(unlisted);
    mkdirSync(project);
    for (const args of [
      ["init", "-q"],
      ["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "one"],
    ])
      execFileSync("git", args, { cwd: project });
    team.configure("", `projects = ["${project}"]`);
    provider.members.set("ana", { name: "Ana", groups: ["admins"] });
    provider.members.set("bob", { name: "Bob" });
    provider.members.set("carl", { name: "Carl" });
    [ana, bob, carl] = [await team.person("ana"), await team.person("bob"), await team.person("carl")];
  }, 120_000);
  afterAll(() => team[Symbol.asyncDispose](), 120_000);

  const mounts = () => [{ source: unlisted, target: "/data", access: "write" }];
  const add = (who: Visitor, task: string, more: object = {}, own: object = {}): Promise<Answer> =>
    who.ask("POST", "/v1/queue", {
      projectDir: project,
      tasks: [{ task, flags: { ...flags, ...own } }],
      ...more,
    });
  const listOf = async (who: Visitor): Promise<QueueAnswer> =>
    (await who.ask("GET", "/v1/queue")).body as unknown as QueueAnswer;
  const taskOf = async (text: string) =>
    (await team.daemon.client.listQueue()).tasks.find(({ task }) => task === text)!;
  const ended = (text: string) =>
    waitFor(`${text} is over`, async () => {
      const task = await taskOf(text);
      return task.endedAtMs === undefined ? undefined : task;
    });
  const refusals = async (reason: string) =>
    (await team.daemon.client.listEvents({ type: "access.refused", limit: 1_000 })).events.filter(
      ({ data }) => data["reason"] === reason,
    );

  it("takes from a member what a box of theirs may be, and nothing else", async () => {
    expect((await add(bob, "fair")).status).toBe(200);
    expect(await ended("fair")).toMatchObject({ verdict: "done", person: "Bob" });

    const before = (await refusals("authority")).length;
    for (const [more, own] of [
      [{}, { mounts: mounts() }],
      [{}, { secrets: { token: { how: "bearer", hosts: ["thief.example.org"] } } }],
      [{}, { security: { exceptions: {} } }],
      [{ variables: { OPENAI_API_KEY: "planted" } }, {}],
      [{ trust: "sha256:0" }, {}],
    ] as const)
      expect((await add(bob, "unfair", more, own)).body.error?.code, JSON.stringify([more, own])).toBe(
        "access.forbidden",
      );
    expect((await add(bob, "unfair", { projectDir: unlisted })).body.error?.code).toBe(
      "workspace.source_invalid",
    );
    // Also as the second of two: none is added.
    const two = [
      { task: "unfair", flags },
      { task: "unfair", flags: { ...flags, mounts: mounts() } },
    ];
    expect((await add(bob, "unfair", { tasks: two })).body.error?.code).toBe("access.forbidden");
    expect((await listOf(bob)).tasks.map(({ task }) => task)).toEqual(["fair"]);
    expect((await refusals("authority")).length).toBeGreaterThan(before);
  });

  it("shows a member nobody else's tasks, and lets them change none", async () => {
    await team.daemon.client.changeQueue({ isPaused: true });
    await bob.ask("POST", "/v1/queue/settings", { isPaused: true });
    await team.daemon.client.addToQueue({ projectDir: project, tasks: [{ task: "the owner's", flags }] });
    await add(bob, "bob's");
    const theirs = (await taskOf("the owner's")).id;
    const his = (await taskOf("bob's")).id;
    expect((await listOf(bob)).tasks.map(({ task }) => task)).toEqual(["fair", "bob's"]);
    expect((await listOf(carl)).tasks).toEqual([]);
    for (const [who, id] of [
      [bob, theirs],
      [carl, his],
    ] as const)
      for (const [path, body] of [
        ["remove", { ids: [id] }],
        ["retry", { ids: [id] }],
        ["move", { id }],
      ] as const) {
        const foreign = await who.ask("POST", `/v1/queue/${path}`, body);
        const none = await who.ask(
          "POST",
          `/v1/queue/${path}`,
          JSON.parse(JSON.stringify(body).replace(`${id}`, "9999")),
        );
        expect(foreign.body.error?.code).toBe("queue.not_found");
        expect(JSON.stringify(foreign.body).replaceAll(`${id}`, "N")).toBe(
          JSON.stringify(none.body).replaceAll("9999", "N"),
        );
      }
    // A pause of one's own queue keeps nobody else's from running.
    expect((await listOf(carl)).settings.isPaused).toBe(false);
    // An admin sees and removes all.
    expect((await listOf(ana)).tasks.map(({ task }) => task)).toContain("bob's");
    expect((await ana.ask("POST", "/v1/queue/remove", { ids: [theirs, his] })).status).toBe(200);
    await team.daemon.client.changeQueue({ isPaused: false });
  });

  it("starts nothing for a person or a token that may not make boxes any more", async () => {
    const { client } = team.daemon;
    await client.changeQueue({ isPaused: true });
    const token = await client.createToken({ name: "night", scopes: ["work", "read"] });
    const byToken = async (task: string) =>
      fetch(`${team.origin}/v1/queue`, {
        method: "POST",
        headers: { authorization: `Bearer ${token.value}`, "content-type": "application/json" },
        body: JSON.stringify({ projectDir: project, tasks: [{ task, flags }] }),
      });
    expect((await byToken("in time")).status).toBe(200);
    await client.changeQueue({ isPaused: false });
    expect(await ended("in time")).toMatchObject({ verdict: "done" });

    await client.changeQueue({ isPaused: true });
    expect((await byToken("too late")).status).toBe(200);
    await client.removeToken({ id: token.token.id });
    await client.changeQueue({ isPaused: false });
    expect(await ended("too late")).toMatchObject({
      state: "refused",
      why: expect.stringContaining("may not make boxes any more"),
    });
    expect((await refusals("queue")).at(-1)?.data).toMatchObject({ route: "createBox", who: "owner" });
    const { events } = await client.listEvents({ type: "queue.refused", limit: 10 });
    expect(events.at(-1)?.data["reason"]).toContain("may not make boxes any more");
    expect((await client.listBoxes()).map(({ name }) => name)).toHaveLength(2);
  });

  it("starts nothing that an admin ordered who is none any more", async () => {
    await ana.ask("POST", "/v1/queue/settings", { isPaused: true });
    const ordered = { network: { allow: ["example.org"] } };
    expect((await add(ana, "as admin", {}, ordered)).status).toBe(200);
    expect((await add(ana, "as anybody")).status).toBe(200);
    await team.daemon.client.listBoxes();
    team.provider.members.set("ana", { name: "Ana", groups: [] });
    const again = await team.person("ana");
    await again.ask("POST", "/v1/queue/settings", { isPaused: false });
    expect(await ended("as admin")).toMatchObject({
      state: "refused",
      why: expect.stringContaining("example.org"),
    });
    expect(await ended("as anybody")).toMatchObject({ state: "ended", verdict: "done" });
  });

  it("gives a task no more than its adder had, if they became an admin since", async () => {
    const { client } = team.daemon;
    await carl.ask("POST", "/v1/queue/settings", { isPaused: true });
    const asks = { network: { allow: ["example.org"] } };
    expect((await add(carl, "agreed", {}, asks)).body.error?.code).toBe("trust.required");
    // The owner agrees, and takes it back before the task starts.
    const text = 'version = 1\n[network]\nallow = ["example.org"]\n';
    const manifest = { file: join(project, "agentbox.toml"), text };
    const { digest } = await client.askTrust({ projectDir: project, manifest });
    await client.grantTrust({ projectDir: project, manifest, digest });
    expect((await add(carl, "agreed", {}, asks)).status).toBe(200);
    expect((await add(carl, "plain")).status).toBe(200);
    await client.revokeTrust({ projectDir: project });
    team.provider.members.set("carl", { name: "Carl", groups: ["admins"] });
    const now = await team.person("carl");
    expect((await add(now, "as admin now", {}, asks)).status).toBe(200);
    await now.ask("POST", "/v1/queue/settings", { isPaused: false });
    expect(await ended("agreed")).toMatchObject({
      state: "refused",
      why: expect.stringContaining("example.org"),
    });
    for (const task of ["plain", "as admin now"])
      expect(await ended(task)).toMatchObject({ state: "ended", verdict: "done" });
  });
});
