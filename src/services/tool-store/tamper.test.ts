import { chmod, lstat, readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runOk } from "../../host/run.ts";
import { agent, openTestStore, publishTester, recipe, type TestStore } from "./store.fixture.ts";

let test: TestStore;
let tree: string;
beforeAll(async () => {
  test = await openTestStore();
  await publishTester(test);
  await test.install(recipe);
  await test.store.pin(agent, "1.0.0");
  ({ dir: tree } = await test.store.use(agent, recipe));
});
afterAll(() => test[Symbol.asyncDispose]());

const inPackage = (path: string) => join(tree, "node_modules/@try/tester", path);

const record = () => `${tree}.json`;

const attacks: readonly { what: string; says: RegExp; attack: () => Promise<unknown> }[] = [
  {
    what: "content of the same size, with the date put back",
    says: /lib\/text\.txt: its content was changed/,
    async attack() {
      const file = inPackage("lib/text.txt");
      const { atime, mtime } = await lstat(file);
      await chmod(file, 0o644);
      await writeFile(file, "evil\n");
      await chmod(file, 0o444);
      await utimes(file, atime, mtime);
    },
  },
  {
    what: "a file put in another's place",
    says: /bin\/tester\.js: its (size|content) was changed/,
    async attack() {
      await writeFile(inPackage("bin/new"), "#!/bin/sh\n", { mode: 0o555 });
      await rename(inPackage("bin/new"), inPackage("bin/tester.js"));
    },
  },
  {
    what: "a file more",
    says: /lib\/evil\.js: it was added/,
    attack: () => writeFile(inPackage("lib/evil.js"), ""),
  },
  {
    what: "a file less",
    says: /lib\/text\.txt: it is gone/,
    attack: () => rm(inPackage("lib/text.txt"), { force: true }),
  },
  {
    what: "a mode",
    says: /lib\/text\.txt: its mode was changed/,
    attack: () => chmod(inPackage("lib/text.txt"), 0o644),
  },
  {
    what: "a link inside",
    says: /lib\/link: it was added/,
    attack: () => symlink("text.txt", inPackage("lib/link")),
  },
  {
    what: "a link that leads out",
    says: /leads out of it/,
    attack: () => symlink("/etc/passwd", inPackage("lib/link")),
  },
  {
    what: "a file and its record together",
    says: /its record was changed/,
    async attack() {
      const file = inPackage("lib/text.txt");
      await chmod(file, 0o644);
      await writeFile(file, "evil\n");
      await chmod(file, 0o444);
      const { size, mtimeNs, ctimeNs, ino } = await lstat(file, { bigint: true });
      const { sha256: _, ...kept } = JSON.parse(await readFile(record(), "utf8")) as {
        sha256?: string;
        entries: unknown[][];
      };
      const [row] = kept.entries.filter(([path]) => String(path).endsWith("lib/text.txt"));
      row![4] = "0".repeat(64);
      row![6] = `${size}.${mtimeNs}.${ctimeNs}.${ino}`;
      await writeFile(record(), JSON.stringify(kept));
    },
  },
  { what: "the whole tree", says: /it cannot be read/, attack: () => rename(tree, join(test.root, "away")) },
];

describe("a tree that was changed", () => {
  it.each(attacks)("is refused: $what", async ({ says, attack }) => {
    // The control: what was installed is given out, and is whole.
    expect((await test.store.use(agent, recipe)).dir).toBe(tree);
    expect(await test.store.verify(agent, "1.0.0")).toEqual({ isWhole: true });

    await attack();
    await expect(test.store.use(agent, recipe)).rejects.toMatchObject({
      code: "tool.tampered",
      message: expect.stringMatching(says),
      hint: expect.stringContaining(`agentbox agents add ${agent}@1.0.0`),
    });
    expect(await test.store.verify(agent, "1.0.0")).toMatchObject({ isWhole: false });

    // The way out that the hint names works.
    await test.install(recipe);
    expect((await test.store.use(agent, recipe)).dir).toBe(tree);
  });

  it("is not one whose files were only copied back", async () => {
    const before = await readFile(record(), "utf8");
    await runOk(["cp", "-a", tree, `${tree}.copy`]);
    await runOk(["rm", "-rf", tree]);
    await rename(`${tree}.copy`, tree);
    expect((await test.store.use(agent, recipe)).dir).toBe(tree);
    // It was read once, and is quick again.
    expect(await readFile(record(), "utf8")).not.toBe(before);
    expect(await test.store.verify(agent, "1.0.0")).toEqual({ isWhole: true });
  });
});
