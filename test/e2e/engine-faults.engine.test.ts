/** Failures of a container engine: reported with a code and a way out, and nothing half-made is left. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { boxDirectories } from "../support/box-directories.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { type EngineProxy, startEngineProxy } from "../support/engine-proxy.ts";
import { engineRequest } from "../support/engine-request.ts";
import { engineUnavailable } from "../support/engines.ts";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { type OwnEngine, startOwnDocker } from "../support/own-engine.ts";
import { describeUnless } from "../support/skipping.ts";

const why = engineUnavailable("docker");
const runArgs = ["run", "shell", "--runtime", "docker", "--json"];

interface Said {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

describeUnless(why)("faults of an engine", () => {
  let engine: OwnEngine;
  let proxy: EngineProxy;
  let daemon: TestDaemon;

  beforeAll(async () => {
    engine = await startOwnDocker("faults");
    proxy = await startEngineProxy(engine.socket);
    daemon = await startDaemon({ env: { AGENTBOX_ENGINE: `unix://${proxy.socket}` } });
    // The control of everything below; it also proves the runtime, so that later requests are those of a box alone.
    const first = await run("echo", "works");
    expect(first.stdout, first.stderr).toBe("works\n");
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });

  const run = (...command: string[]) => daemon.cli([...runArgs, "--", ...command], { timeoutMs: 50_000 });
  const phases = async () =>
    Object.fromEntries((await daemon.client.listBoxes()).map(({ name, phase }) => [name, phase]));
  /** Asked past the proxy. */
  const containers = async (): Promise<{ Id: string; State: string; Labels: Record<string, string> }[]> =>
    JSON.parse((await engineRequest(engine.socket, "GET", "/v1.41/containers/json?all=true")).text) as [];
  const ours = async () => (await containers()).filter(({ Labels }) => "agentbox.box" in Labels);

  const expectNothing = async () => {
    await waitFor("no box is left", async () => (await daemon.client.listBoxes()).length === 0, 20_000);
    expect(boxDirectories(daemon)).toEqual([]);
    expect(await ours()).toEqual([]);
  };
  const expectSaid = ({ code, stderr }: { code: number | null; stderr: string }, wanted: string): Said => {
    expect(code, stderr).not.toBe(0);
    const said = JSON.parse(stderr) as Said;
    expect(said.code).toBe(wanted);
    expect(said.hint).not.toBe("");
    return said;
  };
  const expectWorks = async () => {
    const again = await run("echo", "works");
    expect(again.stdout, again.stderr).toBe("works\n");
    await expectNothing();
  };
  afterEach(() => expectNothing());

  const moments = [
    {
      at: "before it hears of the container",
      method: "POST",
      path: /\/containers\/create/,
      moment: "before",
    },
    { at: "after it made the container", method: "POST", path: /\/containers\/create/, moment: "after" },
    { at: "before it starts the container", method: "POST", path: /\/start$/, moment: "before" },
    { at: "after it started the container", method: "POST", path: /\/start$/, moment: "after" },
    {
      at: "when it is asked how the start went",
      method: "GET",
      path: /\/containers\/[0-9a-f]{64}\/json/,
      moment: "before",
      isStarted: true,
    },
  ] as const;

  for (const { at, ...cut } of moments) {
    it(`a connection that is cut ${at} leaves nothing, and the next run works`, async () => {
      proxy.cutAt(cut);
      const said = expectSaid(await run("true"), "runtime.broken");
      expect(proxy.isCut()).toBe(true);
      expect(said.message).toContain("failed");
      await expectNothing();
      await expectWorks();
    });

    it(`an engine that goes away ${at} is cleaned up after when it is back`, async () => {
      proxy.cutAt({ ...cut, staysAway: true });
      try {
        expectSaid(await run("true"), "runtime.broken");
        expect(proxy.isCut()).toBe(true);
        // A container that may be there is remembered, and not taken for a usable box.
        expect(Object.values(await phases())).toEqual(["removing"]);
        const refused = expectSaid(await run("true"), "runtime.broken");
        expect(refused.hint).toContain("Start it");
        expect(Object.values(await phases())).toEqual(["removing"]);
      } finally {
        await proxy.comeBack();
      }
      await expectNothing();
      await expectWorks();
    });
  }

  it("a signal that ends the box and is answered with a failure has done what it was for", async () => {
    await daemon.client.createBox({
      name: "met",
      flags: { runtime: { name: "docker" }, workspace: { mode: "empty" } },
    });
    proxy.cutAt({ method: "POST", path: /\/kill\b/, moment: "after" });
    // Without a grace: a box that was asked first may have ended by itself, and then there is nothing to signal.
    const stopped = await daemon.cli(["stop", "met", "--grace", "0s"], { timeoutMs: 50_000 });
    expect(proxy.isCut()).toBe(true);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(await phases()).toEqual({ met: "stopped" });
    await daemon.client.removeBox("met", { force: true });
    await expectNothing();
  });

  it("an engine that is away is said so before anything is made, and back it is used again", async () => {
    await proxy.goAway();
    try {
      const said = expectSaid(await run("true"), "runtime.broken");
      expect(said.message).toContain("not running");
      expect(said.hint).toContain("Start it");
      expect(await phases()).toEqual({});
      expect(boxDirectories(daemon)).toEqual([]);
    } finally {
      await proxy.comeBack();
    }
    await expectWorks();
  });

  it("a container that a daemon left half-made is swept away by the next", async () => {
    const made = await daemon.cli(["create", "--runtime", "docker", "--name", "half-made", "--start"]);
    expect(made.code, made.stderr).toBe(0);
    const { Labels } = (await ours())[0]!;
    const { Image } = JSON.parse(
      (await engineRequest(engine.socket, "GET", "/v1.41/containers/agentbox-half-made/json")).text,
    ) as { Image: string };
    await daemon.client.removeBox("half-made", { force: true });
    // As an engine leaves it that finished the request after the daemon was killed.
    const orphan = await engineRequest(
      engine.socket,
      "POST",
      "/v1.41/containers/create?name=agentbox-half-made",
      {
        Image,
        Cmd: ["/bin/true"],
        Labels,
      },
    );
    expect(orphan.status, orphan.text).toBe(201);
    const foreign = await engineRequest(engine.socket, "POST", "/v1.41/containers/create?name=not-ours", {
      Image,
      Cmd: ["/bin/true"],
    });
    expect(foreign.status, foreign.text).toBe(201);
    expect(await ours()).toHaveLength(1);
    await daemon.kill();
    await daemon.start();
    await waitFor("the orphan is gone", async () => (await ours()).length === 0);
    // The control: what is not AgentBox's is left alone.
    expect(await containers()).toHaveLength(1);
    await engineRequest(engine.socket, "DELETE", "/v1.41/containers/not-ours?force=true");
  });

  it("a name that somebody else's container has is refused, and that container is left alone", async () => {
    const base = await daemon.cli(["create", "--runtime", "docker", "--name", "first", "--start"]);
    expect(base.code, base.stderr).toBe(0);
    const { Image } = JSON.parse(
      (await engineRequest(engine.socket, "GET", "/v1.41/containers/agentbox-first/json")).text,
    ) as { Image: string };
    await daemon.client.removeBox("first", { force: true });
    const theirs = await engineRequest(
      engine.socket,
      "POST",
      "/v1.41/containers/create?name=agentbox-taken",
      {
        Image,
        Cmd: ["/bin/true"],
      },
    );
    expect(theirs.status, theirs.text).toBe(201);
    const named = ["run", "shell", "--runtime", "docker", "--json", "--name", "taken", "--", "true"];
    const said = expectSaid(await daemon.cli(named), "box.name_taken");
    expect(said.hint).toContain("docker rename agentbox-taken");
    await expectNothing();
    expect(await containers()).toHaveLength(1);
    await engineRequest(engine.socket, "DELETE", "/v1.41/containers/agentbox-taken?force=true");
    expect((await daemon.cli(named)).code).toBe(0);
    await daemon.client.removeBox("taken", { force: true });
  });

  const project = (name: string, manifest: string): string => {
    const dir = join(daemon.scratch, name);
    mkdirSync(dir, { mode: 0o755 });
    writeFileSync(join(dir, "agentbox.toml"), `version = 1\n${manifest}`, { mode: 0o644 });
    return dir;
  };
  const runIn = (cwd: string, ...args: string[]) =>
    daemon.cli(["run", "shell", "--json", ...args, "--", "true"], { cwd, timeoutMs: 50_000 });

  it("an image that nobody has is refused", async () => {
    const cwd = project("image", '[runtime]\nname = "docker"\nimage = "agentbox-test/absent:1"\n');
    const trusted = await trustOf(runIn(cwd, "--no-install"));
    const said = expectSaid(await runIn(cwd, "--no-install", "--trust", trusted), "image.not_built");
    expect(said.hint).toContain("agentbox build");
    // With the build that the hint names: no registry can be reached in a test, and the answer says what is missing.
    const built = await daemon.cli(["build", "--json", "--trust", trusted], { cwd, timeoutMs: 50_000 });
    expect(built.code).not.toBe(0);
    expect((JSON.parse(built.stderr) as Said).code).toMatch(/^image\./);
    expect((JSON.parse(built.stderr) as Said).hint).not.toBe("");
  });

  const trustOf = async (asked: Promise<{ stderr: string }>): Promise<string> =>
    /sha256:[0-9a-f]{64}/.exec((await asked).stderr)?.[0] ?? "";

  it("a disk limit that cannot be held is refused", async (ctx) => {
    if (!isRoot) ctx.skip("needs root to be another user");
    // An ordinary user's daemon can mount no file system of a size.
    await using own = await startDaemon({
      user: ordinaryUser,
      env: { AGENTBOX_ENGINE: `unix://${proxy.socket}` },
    });
    const asked = await own.cli([...runArgs, "--disk", "1GiB", "--", "true"], { timeoutMs: 50_000 });
    expect(expectSaid(asked, "policy.unenforceable").hint).toContain("resources.disk");
    expect(await own.client.listBoxes()).toEqual([]);
    expect(boxDirectories(own)).toEqual([]);
    // The controls: without the limit, and by a caller that can hold it.
    const plain = await own.cli([...runArgs, "--", "true"], { timeoutMs: 50_000 });
    expect(plain.code, plain.stderr).toBe(0);
    const held = await daemon.cli([...runArgs, "--disk", "1GiB", "--", "true"], { timeoutMs: 50_000 });
    expect(held.code, held.stderr).toBe(0);
  }, 120_000);

  it("an engine that this user may not speak to is said so", async (ctx) => {
    if (!isRoot) ctx.skip("needs root to be another user");
    await using own = await startDaemon({
      user: ordinaryUser,
      env: { AGENTBOX_ENGINE: `unix://${engine.socket}` },
    });
    const said = expectSaid(await own.cli([...runArgs, "--", "true"]), "runtime.broken");
    expect(said.message).toContain("You may not speak to the container engine");
    expect(said.hint).toContain("rootless");
    expect(await own.client.listBoxes()).toEqual([]);
  });

  for (const [what, manifest] of [
    [
      "a tag with a shell's characters",
      '[runtime]\nname = "docker"\nimage = "debian:12;touch${IFS}/tmp/abx-touched"\n',
    ],
    [
      "a tag with a command in it",
      '[runtime]\nname = "docker"\nimage = "debian:$(touch /tmp/abx-touched)"\n',
    ],
    ["a privileged box", '[runtime]\nname = "docker"\nprivileged = true\n'],
    [
      "a privileged box by exception",
      '[security.exceptions.all]\nreason = "it is easier"\nprivileged = true\n',
    ],
    [
      "every capability",
      '[security.exceptions.all]\nreason = "it is easier"\ncapabilities = ["SYS_ADMIN"]\n',
    ],
    ["the engine's socket", '[[mounts]]\nsource = "/var/run/docker.sock"\ntarget = "/var/run/docker.sock"\n'],
  ] as const) {
    it(`a manifest that asks for ${what} is refused, with the place`, async () => {
      const cwd = project(what.replaceAll(/[^a-z]+/g, "-"), manifest);
      const said = expectSaid(await runIn(cwd), "manifest.invalid");
      expect(said.message).toContain("agentbox.toml");
      expect(existsSync("/tmp/abx-touched")).toBe(false);
    });
  }
});

describeUnless(why)("an engine that is too old", () => {
  it("is refused with what it speaks and what is needed", async () => {
    const engine = await startOwnDocker("old");
    await using proxy = await startEngineProxy(engine.socket);
    proxy.change(/\/version$/, { ApiVersion: "1.40" });
    await using daemon = await startDaemon({ env: { AGENTBOX_ENGINE: `unix://${proxy.socket}` } });
    const refused = await daemon.cli([...runArgs, "--", "true"]);
    const said = JSON.parse(refused.stderr) as Said;
    expect(said).toMatchObject({ code: "runtime.broken", hint: expect.stringContaining("Docker 20.10") });
    expect(said.message).toContain("1.40");
    expect(await daemon.client.listBoxes()).toEqual([]);
    expect(boxDirectories(daemon)).toEqual([]);
    const report = await daemon.client.getDoctor();
    expect(report.runtimes.find(({ name }) => name === "docker")).toMatchObject({ status: "broken" });
  });
});
