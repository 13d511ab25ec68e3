import { mkdir, readFile, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pathKind } from "../../host/files.ts";
import { run } from "../../host/run.ts";
import { agent, openTestStore, publishTester, recipe, type TestStore } from "./store.fixture.ts";

let test: TestStore;
beforeEach(async () => {
  test = await openTestStore();
});
afterEach(() => test[Symbol.asyncDispose]());

const left = () => readdir(join(test.dir, agent)).catch(() => []);

describe("installing from npm", () => {
  it("gives a sealed tree with a program, and keeps what the registry says about it", async () => {
    const integrity = await publishTester(test);
    const messages: string[] = [];
    const tool = await test.install(recipe, { onProgress: (message) => messages.push(message) });
    expect(tool).toMatchObject({ agent, version: "1.0.0", source: "npm", package: "@try/tester", integrity });
    expect(tool.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(messages[0]).toBe("Fetching @try/tester@1.0.0 with npm");

    const { dir, program } = await test.store.use(agent, recipe, "1.0.0");
    expect(dir).toBe(join(test.dir, agent, `1.0.0-${tool.digest.slice(7, 19)}`));
    expect(program).toBe("node_modules/@try/tester/bin/tester.js");
    expect((await run([join(dir, program)], { env: test.env })).stdout).toBe("1.0.0\n");
    expect((await stat(join(dir, program))).mode & 0o777).toBe(0o555);
    expect((await stat(join(dir, "node_modules/@try/tester/lib/text.txt"))).mode & 0o777).toBe(0o444);
    expect((await stat(dir)).mode & 0o777).toBe(0o755);
    expect(await pathKind(join(dir, "node_modules/.package-lock.json"))).toBeUndefined();
  });

  it("takes the only program of a package, or that of its own name, when none is said", async () => {
    const { bin: _bin, ...unnamed } = recipe;
    await publishTester(test, "1.0.0", { bin: { "another-name": "bin/tester.js" } });
    await test.install(unnamed);
    expect((await test.store.use(agent, unnamed, "1.0.0")).program).toBe(
      "node_modules/@try/tester/bin/tester.js",
    );
    const two = { tester: "bin/tester.js", "another-name": "lib/text.txt" };
    await publishTester(test, "1.0.1", { bin: two });
    await test.install(unnamed, { version: "1.0.1" });
    expect((await test.store.use(agent, unnamed, "1.0.1")).program).toMatch(/tester\.js$/);
    await publishTester(test, "1.0.2", { bin: { a: "bin/tester.js", b: "bin/tester.js" } });
    await expect(test.install(unnamed, { version: "1.0.2" })).rejects.toMatchObject({
      code: "tool.install_failed",
    });
  });

  it("runs no script of the package", async () => {
    const marker = join(test.root, "ran");
    await publishTester(test, "1.0.0", { scripts: { postinstall: `touch ${marker}` } });
    // The control: npm itself would run it.
    const usual = join(test.root, "usual");
    await mkdir(usual);
    await run(["npm", "install", "--prefix", usual, "@try/tester@1.0.0"], { env: test.env, cwd: usual });
    expect(await pathKind(marker)).toBe("file");

    await run(["rm", marker]);
    // Against the person's own configuration.
    const store = test.reopen({ ...test.env, npm_config_ignore_scripts: "false" });
    await store.install({ agent, recipe, onProgress: () => undefined, signal: new AbortController().signal });
    expect(await pathKind(marker)).toBeUndefined();
  });

  it("does nothing the second time, and has the same content on another host", async () => {
    await publishTester(test);
    const first = await test.install(recipe);
    const asked = test.registry.requests.length;
    expect(await test.install(recipe)).toEqual(first);
    expect(test.registry.requests).toHaveLength(asked);

    await test.store.remove(agent, "1.0.0");
    expect((await test.install(recipe)).digest).toBe(first.digest);
  });

  it("takes several at once", async () => {
    await publishTester(test, "1.0.0");
    await publishTester(test, "2.0.0");
    const tools = await Promise.all([
      test.install(recipe),
      test.install(recipe),
      test.install(recipe, { version: "latest" }),
    ]);
    expect(tools[0]).toEqual(tools[1]);
    expect(tools[2]).toMatchObject({ version: "2.0.0" });
    expect((await test.store.list()).map(({ version }) => version).sort()).toEqual(["1.0.0", "2.0.0"]);
    expect(await left()).toHaveLength(4);
  });

  it("refuses other content than was locked", async () => {
    await publishTester(test);
    const { digest } = await test.install(recipe);
    await test.store.remove(agent, "1.0.0");
    expect((await test.install(recipe, { expectedDigest: digest })).digest).toBe(digest);

    const other = `sha256:${"0".repeat(64)}`;
    await expect(test.install(recipe, { expectedDigest: other })).rejects.toMatchObject({
      code: "tool.install_failed",
      facts: { digest, expected: other },
    });
    expect(await test.store.list()).toHaveLength(1);
  });

  it("refuses a version that is another package or another place", async () => {
    await publishTester(test);
    expect(await test.install(recipe, { version: "1.0.0" })).toMatchObject({ version: "1.0.0" });
    for (const version of ["npm:evil@1.0.0", "../../x", "file:/etc", "--registry=x", "", "1..2"])
      await expect(test.install(recipe, { version })).rejects.toMatchObject({ code: "input.invalid" });
  });

  it("says what is missing", async () => {
    await expect(test.install(recipe)).rejects.toMatchObject({
      code: "tool.install_failed",
      message: "The registry has no @try/tester@1.0.0.",
    });
    await publishTester(test);
    const poor = test.reopen({ ...test.env, PATH: join(test.root, "nothing") });
    await expect(
      poor.install({ agent, recipe, onProgress: () => undefined, signal: new AbortController().signal }),
    ).rejects.toMatchObject({ code: "tool.install_failed", hint: expect.stringContaining("Install npm") });
    await expect(test.install({ ...recipe, bin: "other" })).rejects.toMatchObject({
      message: 'The package @try/tester has no program named "other".',
    });
    expect(await left()).toEqual([]);
  });

  it("leaves nothing when it is interrupted", async () => {
    await publishTester(test);
    const { asked, closed } = await test.registry.hold();
    const stop = new AbortController();
    const installing = test.install(recipe, { signal: stop.signal });
    await asked;
    expect(await left()).not.toEqual([]);
    stop.abort();
    await expect(installing).rejects.toMatchObject({ message: "The installation was interrupted." });
    // npm itself has ended: its connection is gone.
    await closed;
    expect(await left()).toEqual([]);
    expect(await test.store.list()).toEqual([]);
  });

  it("removes what a crash has left, and nothing else", async () => {
    await publishTester(test);
    await test.install(recipe);
    const finished = await left();
    await mkdir(join(test.dir, agent, ".new-abc", "node_modules"), { recursive: true });
    await mkdir(join(test.dir, agent, "2.0.0-0123456789ab", "node_modules"), { recursive: true });
    await writeFile(join(test.dir, agent, ".0123.tmp"), "half a record");

    expect(await test.reopen().list()).toHaveLength(1);
    expect(await left()).toEqual(finished);
  });
});

describe("programs for one processor", () => {
  const publishNative = async (cpu: string) => {
    const name = `tester-${process.platform}-${cpu}`;
    await publishTester(test, "1.0.0", {
      optionalDependencies: { [`@try/${name}`]: "1.0.0", "@try/pty-linux": "1.0.0" },
    });
    await test.registry.publish({
      name: `@try/${name}`,
      version: "1.0.0",
      files: { "vendor/bin/tester": "#!/bin/sh\necho native\n" },
      manifest: { os: [process.platform], cpu: [cpu] },
    });
  };

  it("are started without the stub that an install script would replace", async () => {
    await publishNative(process.arch);
    await test.install(recipe);
    const { dir, program } = await test.store.use(agent, recipe, "1.0.0");
    expect(program).toBe(`node_modules/@try/tester-${process.platform}-${process.arch}/vendor/bin/tester`);
    expect((await run([join(dir, program)])).stdout).toBe("native\n");
  });

  it("are missed when there is none for this platform", async () => {
    await publishNative("s390x");
    await expect(test.install(recipe)).rejects.toMatchObject({ code: "tool.unsupported" });
    expect(await left()).toEqual([]);
  });

  it("are refused by npm when the whole package is for others", async () => {
    await publishTester(test, "1.0.0", { cpu: ["s390x"] });
    await expect(test.install(recipe)).rejects.toMatchObject({ code: "tool.unsupported" });
  });
});

describe("taking what a person installed", () => {
  const local = { kind: "path", bin: "tool", hint: "Install it first." } as const;
  let source: string;
  beforeEach(async () => {
    source = join(test.root, "source");
    await mkdir(join(source, "lib"), { recursive: true });
    await writeFile(join(source, "tool"), "#!/bin/sh\necho local\n", { mode: 0o755 });
    await writeFile(join(source, "lib", "data"), "data", { mode: 0o666 });
    await symlink("lib/data", join(source, "inside"));
  });

  it("copies a directory or a file, named by content", async () => {
    const tool = await test.install(local, { from: source });
    expect(tool).toMatchObject({ source: "path", version: `local-${tool.digest.slice(7, 15)}`, files: 2 });
    await writeFile(join(source, "lib", "data"), "changed later");
    const { dir, program } = await test.store.use(agent, local, tool.version);
    expect(program).toBe("tool");
    expect(await readFile(join(dir, "inside"), "utf8")).toBe("data");

    const single = await test.install(local, { from: join(source, "tool"), version: "3" });
    expect(single).toMatchObject({ version: "3", files: 1 });
  });

  it("takes the place of what a registry has, also when that is here already", async () => {
    await publishTester(test);
    await test.install(recipe);
    await writeFile(join(source, "tester"), "#!/bin/sh\necho mine\n", { mode: 0o755 });
    const tool = await test.install(recipe, { from: source });
    expect(tool).toMatchObject({ source: "path", version: `local-${tool.digest.slice(7, 15)}` });
    const { dir, program } = await test.store.use(agent, recipe, tool.version);
    expect((await run([join(dir, program)])).stdout).toBe("mine\n");
    const named = await test.install(recipe, { from: join(source, "tester"), version: "1.0.0" });
    expect(named).toMatchObject({ source: "path", version: "1.0.0", files: 1 });
    expect((await test.install(recipe)).source).toBe("npm");
  });

  it("finds a program that only a link names", async () => {
    await symlink("../tool", join(source, "lib", "tester"));
    const tool = await test.install(recipe, { from: source });
    expect((await test.store.use(agent, recipe, tool.version)).program).toBe("tool");
  });

  it("refuses what leads out of it, and what is no program", async () => {
    await symlink("/etc/hostname", join(source, "out"));
    await expect(test.install(local, { from: source })).rejects.toMatchObject({
      code: "tool.install_failed",
      message: expect.stringContaining("the link leads out of it"),
    });
    await expect(test.install(local, { from: join(source, "lib") })).rejects.toMatchObject({
      message: expect.stringContaining('no executable file named "tool"'),
    });
    await expect(test.install(local)).rejects.toMatchObject({ hint: local.hint });
    expect(await left()).toEqual([]);
  });
});
