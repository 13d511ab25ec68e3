import { chmod, mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pathKind } from "../../host/files.ts";
import { agent, openTestStore, publishTester, recipe, type TestStore } from "./store.fixture.ts";

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
  await publishTester(test, "1.0.0");
  await publishTester(test, "2.0.0");
  await test.install(recipe);
  await test.install(recipe, { version: "2.0.0" });
});
afterAll(() => test[Symbol.asyncDispose]());

describe("pins", () => {
  it("say which version is used, and outlive the daemon", async () => {
    await expect(test.store.use(agent, recipe)).rejects.toMatchObject({
      code: "tool.not_installed",
      hint: `Install it: agentbox agents add ${agent}`,
    });
    await test.store.pin(agent, "2.0.0");
    expect((await test.reopen().use(agent, recipe)).tool.version).toBe("2.0.0");
    expect((await test.store.use(agent, recipe, "1.0.0")).tool.version).toBe("1.0.0");

    await test.store.pin(agent, "1.0.0");
    expect(await test.store.pinned(agent)).toBe("1.0.0");
    await expect(test.store.pin(agent, "9.0.0")).rejects.toMatchObject({ code: "tool.not_installed" });
    await test.store.pin(agent, undefined);
    expect(await test.store.pinned(agent)).toBeUndefined();
  });

  it("are refused when the lock file cannot be read, with the place", async () => {
    await test.store.pin(agent, "1.0.0");
    const good = await readFile(test.lockFile, "utf8");
    expect(good.endsWith("}\n")).toBe(true);

    await writeFile(test.lockFile, '{\n  "version": 1,\n  oops\n}\n');
    await expect(test.store.pinned(agent)).rejects.toMatchObject({
      code: "lock.invalid",
      message: expect.stringMatching(/agentbox\.lock:3:3 cannot be used/),
    });
    await writeFile(test.lockFile, '{"version": 2, "agents": {}}');
    await expect(test.store.pinned(agent)).rejects.toMatchObject({
      message: expect.stringContaining("version:"),
    });
    await writeFile(test.lockFile, good);
    expect(await test.store.pinned(agent)).toBe("1.0.0");
  });

  it("go into a project's own lock, and never through a link in it", async () => {
    const project = join(test.root, "project");
    await mkdir(project);
    await test.store.pinProject(project, agent, "2.0.0");
    const lock = JSON.parse(await readFile(join(project, "agentbox.lock"), "utf8"));
    expect(lock.agents[agent]).toMatchObject({
      version: "2.0.0",
      platform: `${process.platform}-${process.arch}`,
    });

    const trap = join(test.root, "trap");
    const precious = join(test.root, "precious");
    await mkdir(trap);
    await writeFile(precious, "mine");
    await symlink(precious, join(trap, "agentbox.lock"));
    await expect(test.store.pinProject(trap, agent, "2.0.0")).rejects.toMatchObject({ code: "lock.invalid" });
    expect(await readFile(precious, "utf8")).toBe("mine");
  });

  it("are not taken from a lock file that others can write", async () => {
    const project = join(test.root, "shared");
    const reference = "docker.io/library/debian:13";
    const digest = `sha256:${"0".repeat(64)}`;
    await mkdir(project);
    await test.store.pinImage(project, reference, digest);
    expect(await test.store.pinnedImage(project, reference)).toBe(digest);
    await chmod(join(project, "agentbox.lock"), 0o666);
    const foreign = { code: "file.foreign" };
    await expect(test.store.pinnedImage(project, reference)).rejects.toMatchObject(foreign);
    await expect(test.store.pinImage(project, reference, digest)).rejects.toMatchObject(foreign);
  });

  it("do not keep a version from being removed", async () => {
    const { dir } = await test.store.use(agent, recipe, "1.0.0");
    await test.store.remove(agent, "1.0.0");
    expect(await pathKind(dir)).toBeUndefined();
    expect((await test.store.list()).map(({ version }) => version)).toEqual(["2.0.0"]);
    await expect(test.store.use(agent, recipe, "1.0.0")).rejects.toMatchObject({
      code: "tool.not_installed",
    });
    expect(await readdir(join(test.dir, agent))).toHaveLength(2);
    await expect(test.store.use("../escape", recipe, "1")).rejects.toMatchObject({ code: "agent.unknown" });
  });
});
