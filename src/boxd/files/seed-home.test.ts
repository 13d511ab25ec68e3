import { lstat, mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mergeTexts, seedHome } from "./seed-home.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "abx-seed-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const seed = (path: string, text: string, how: "replace" | "absent" | "merge") => ({ path, text, how });
const read = (path: string) => readFile(join(home, path), "utf8");

describe("seedHome", () => {
  it("makes files with their directories, for the box's user alone", async () => {
    await seedHome([seed(".a/b/c.json", "{}", "replace")], {}, home);
    expect(await read(".a/b/c.json")).toBe("{}");
    expect((await lstat(join(home, ".a/b/c.json"))).mode & 0o777).toBe(0o600);
  });

  it("replaces, keeps or merges what is there", async () => {
    await writeFile(join(home, "replace"), "old");
    await writeFile(join(home, "absent"), "old");
    await writeFile(join(home, "merge"), '{"theirs":1,"both":{"theirs":2,"ours":0}}');
    await seedHome(
      [
        seed("replace", "new", "replace"),
        seed("absent", "new", "absent"),
        seed("merge", '{"ours":3,"both":{"ours":4}}', "merge"),
      ],
      {},
      home,
    );
    expect([await read("replace"), await read("absent")]).toEqual(["new", "old"]);
    expect(JSON.parse(await read("merge"))).toEqual({ theirs: 1, ours: 3, both: { theirs: 2, ours: 4 } });
  });

  it("never writes through a link that the box has left", async () => {
    const outside = join(home, "outside");
    await mkdir(outside);
    await mkdir(join(home, "home"));
    await symlink(outside, join(home, "home/.claude"));
    await symlink(join(outside, "file"), join(home, "home/.codex"));
    // The control: the same file goes where no link is in the way.
    await seedHome([seed(".gemini/settings.json", "{}", "replace")], {}, join(home, "home"));
    expect(await read("home/.gemini/settings.json")).toBe("{}");
    const through = seedHome([seed(".claude/settings.json", "{}", "replace")], {}, join(home, "home"));
    await expect(through).rejects.toMatchObject({ code: "file.unsafe_path" });
    await seedHome([seed(".codex", "{}", "merge")], {}, join(home, "home"));
    await expect(lstat(join(outside, "file"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(await read("home/.codex")).toBe("{}");
  });

  it("says what is in the way, where something else stands in a file's or a directory's place", async () => {
    await mkdir(join(home, ".a/settings.json/sub"), { recursive: true });
    const into = seedHome([seed(".a/settings.json", "{}", "replace")], {}, home);
    await expect(into).rejects.toThrow("~/.a/settings.json");
    await writeFile(join(home, ".b"), "");
    const below = seedHome([seed(".b/settings.json", "{}", "replace")], {}, home);
    await expect(below).rejects.toMatchObject({ code: "file.unsafe_path" });
  });

  it.each(["../x", "a/../../x", "/etc/x", "", "a//b"])(
    "takes no path that leaves the home: %s",
    async (path) => {
      await expect(seedHome([seed(path, "", "replace")], {}, home)).rejects.toThrow("no path below the home");
    },
  );

  it("makes links, and leaves a directory of the agent's own alone", async () => {
    await mkdir(join(home, ".own/skills"), { recursive: true });
    await seedHome(
      [],
      { ".new/skills": "/opt/agentbox/skills", ".own/skills": "/opt/agentbox/skills" },
      home,
    );
    expect(await readlink(join(home, ".new/skills"))).toBe("/opt/agentbox/skills");
    expect((await lstat(join(home, ".own/skills"))).isDirectory()).toBe(true);
  });
});

it("replaces what is no JSON object, and takes a key named __proto__ for a key", () => {
  expect(mergeTexts("not json", '{"a":1}')).toBe('{"a":1}');
  expect(mergeTexts("[1]", '{"a":1}')).toBe('{"a":1}');
  const deep = `${'{"b":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  expect(mergeTexts(deep, '{"a":1}')).toBe('{"a":1}');
  const merged = JSON.parse(mergeTexts('{"__proto__":{"x":1}}', '{"__proto__":{"y":2}}')) as object;
  expect(Object.getOwnPropertyNames(merged)).toEqual(["__proto__"]);
});
