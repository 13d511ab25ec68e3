import { describe, expect, it } from "vitest";
import { find, noSecrets } from "../planted-changes.fixture.ts";

const isFlagged = async (path: string, before: readonly string[] = []): Promise<boolean> => {
  async function* tree(): AsyncGenerator<string, void> {
    yield* ["src/inner/a.py", "README.md", ...before];
  }
  return (await find([{ path, text: "x = 1\n" }], noSecrets, tree)).length > 0;
};

describe("files that take the place of a module that comes with Python", () => {
  it.each([
    "types.py",
    "src/json.py",
    "tests/random.py",
    "json/__init__.py",
    "src/logging/x.py",
    "lib/yaml/__init__.py",
    "tests/pytest.pyx",
  ])("%s", async (path) => {
    expect(await isFlagged(path)).toBe(true);
  });

  it.each([
    ["src/inner/prices.py", []],
    ["src/shop/types.py", ["src/shop/__init__.py"]],
    ["src/shop/http/client.py", ["src/shop/__init__.py"]],
    ["http/client.py", ["http/server.py"]],
  ])("%s is none beside %j", async (path, before) => {
    expect(await isFlagged(path, before)).toBe(false);
  });

  it("a package that the box makes itself is no package yet", async () => {
    async function* tree(): AsyncGenerator<string, void> {
      yield* ["src/inner/a.py", "src/__init__.py", "src/types.py"];
    }
    const changes = ["src/__init__.py", "src/types.py"].map((path) => ({ path, text: "x\n" }));
    expect((await find(changes, noSecrets, tree)).map(({ path }) => path)).toEqual(["src/types.py"]);
  });
});
