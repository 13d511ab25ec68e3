import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, runOk } from "../../host/run.ts";
import { agent, openTestStore, type TestStore } from "./store.fixture.ts";

const recipe = { kind: "pypi", package: "py-tester", version: "1.0", bin: "py-tester" } as const;
const python = "/usr/bin/python3";
const hasPip = await run([python, "-m", "pip", "--version"]).then(
  ({ code }) => code === 0,
  () => false,
);

/** A wheel is a zip archive; Python has what makes one. */
const makeWheel = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1] + "/py_tester-1.0-py3-none-any.whl", "w") as wheel:
    info = "py_tester-1.0.dist-info/"
    wheel.writestr("py_tester/__init__.py", "import subprocess, sys\\n\\ndef main():\\n    print('from the box', sys.argv[1:], subprocess.run(['/usr/bin/python3', '-c', 'import py_tester'], capture_output=True).returncode)\\n")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: py-tester\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "entry_points.txt", "[console_scripts]\\npy-tester = py_tester:main\\n")
    wheel.writestr(info + "RECORD", "")
`;

let test: TestStore;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  test = await openTestStore();
  const wheels = join(test.root, "wheels");
  await mkdir(wheels);
  if (hasPip) await runOk([python, "-c", makeWheel, wheels]);
  env = { ...test.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: wheels };
});
afterAll(() => test[Symbol.asyncDispose]());

const install = (what: typeof recipe | { kind: "pypi"; package: string; version: string; bin: string }) =>
  test.reopen(env).install({
    agent,
    recipe: what,
    onProgress: () => undefined,
    signal: new AbortController().signal,
  });

describe.skipIf(!hasPip)("installing from the Python index", () => {
  it("gives a program that runs from a tree that cannot be written, and keeps its libraries to itself", async () => {
    const tool = await install(recipe);
    expect(tool).toMatchObject({ version: "1.0", source: "pypi", package: "py-tester" });
    expect(tool.integrity).toMatch(/^sha256-[0-9a-f]{64}$/);
    const { dir, program } = await test.store.use(agent, recipe, "1.0");
    const { stdout, stderr } = await run([join(dir, program), "a", "b c"]);
    expect(stderr).toBe("");
    // Another Python that the program starts does not find them.
    expect(stdout).toBe("from the box ['a', 'b c'] 1\n");
    expect((await stat(join(dir, "lib/python/site-packages/py_tester/__pycache__"))).isDirectory()).toBe(
      true,
    );
    expect(await test.store.verify(agent, "1.0")).toEqual({ isWhole: true });
  });

  it("executes nothing of a package: sources are not built", async () => {
    const sources = join(test.root, "sources", "evil-1.0");
    await mkdir(sources, { recursive: true });
    const marker = join(test.root, "built");
    await writeFile(join(sources, "setup.py"), `open(${JSON.stringify(marker)}, "w")\n`);
    // The control: building it leaves the mark.
    await runOk([python, join(sources, "setup.py")]);
    await rm(marker);
    await writeFile(join(sources, "PKG-INFO"), "Metadata-Version: 1.0\nName: evil\nVersion: 1.0\n");
    await runOk([
      "tar",
      "-czf",
      join(test.root, "wheels", "evil-1.0.tar.gz"),
      "-C",
      join(sources, ".."),
      "evil-1.0",
    ]);
    await expect(install({ ...recipe, package: "evil" })).rejects.toMatchObject({
      code: "tool.install_failed",
      message: expect.stringContaining("evil==1.0"),
    });
    await expect(stat(marker)).rejects.toMatchObject({ code: "ENOENT" });
  });
});
