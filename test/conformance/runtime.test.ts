import { chmod, chown, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import bubblewrap from "../../src/drivers/runtime/bubblewrap/index.ts";
import { createMemoryModule } from "../../src/drivers/runtime/memory/index.ts";
import { removeTree } from "../../src/host/files.ts";
import { run } from "../../src/host/run.ts";
import {
  runtimeConformance,
  type RuntimeSubject,
  withRuntimeContext,
} from "../../src/ports/runtime.conformance.ts";
import { itUnless } from "../support/skipping.ts";
import { bundleScript } from "./bundle.ts";

const isRoot = process.getuid!() === 0;
const probe = await bubblewrap.probe();
const missing = probe.status === "ready" ? undefined : probe.reason;

let scratchDir: string;
beforeAll(async () => {
  scratchDir = await mkdtemp(join(tmpdir(), "agentbox-conformance-"));
  await chmod(scratchDir, 0o755);
});
afterAll(() => removeTree(scratchDir));

function runCases(
  subject: () => Omit<RuntimeSubject, "scratchDir">,
  abilities: readonly string[],
  reason?: string,
): void {
  for (const { name, needs, run: runCase } of runtimeConformance) {
    // A case about what the runtime does not have (memory runs no process) is no case of this runtime.
    if (!needs.every((need) => abilities.includes(need))) continue;
    itUnless(reason)(name, () => withRuntimeContext({ ...subject(), scratchDir }, runCase));
  }
}

describe("memory", () => {
  const module = createMemoryModule();
  const owner = { uid: process.getuid!(), gid: process.getgid!() };
  runCases(() => ({ module, abilities: [], owner, node: process.execPath }), []);
});

const owner = isRoot ? { uid: 100_321, gid: 100_321 } : { uid: process.getuid!(), gid: process.getgid!() };

describe(`bubblewrap, ${isRoot ? "as root" : "as an ordinary user"}`, () => {
  runCases(
    () => ({ module: bubblewrap, abilities: ["processes"], owner, node: process.execPath }),
    ["processes"],
    missing,
  );
  const needsRoot = missing ?? (isRoot ? undefined : "only root gives boxes users of their own");

  itUnless(needsRoot)("refuses to give a box to root or a system user", async () => {
    const subject = {
      module: bubblewrap,
      abilities: ["processes"],
      owner,
      node: process.execPath,
      scratchDir,
    };
    await withRuntimeContext(subject, async ({ runtime, makeBox }) => {
      const box = await makeBox("owned");
      for (const uid of [0, 33, 999]) {
        await expect(runtime.start({ ...box, owner: { uid, gid: 100_321 } })).rejects.toMatchObject({
          code: "box.start_failed",
        });
      }
      expect((await runtime.start(box)).phase).toBe("running");
    });
  });

  itUnless(needsRoot)("names the directory that keeps a box's user out", async () => {
    const subject = {
      module: bubblewrap,
      abilities: ["processes"],
      owner,
      node: process.execPath,
      scratchDir,
    };
    await withRuntimeContext(subject, async ({ runtime, makeBox, boxesDir }) => {
      const box = await makeBox("fenced");
      await chmod(boxesDir, 0o700);
      const refused = runtime.start(box);
      await expect(refused).rejects.toMatchObject({
        code: "box.start_failed",
        hint: expect.stringContaining(boxesDir),
      });
      await chmod(boxesDir, 0o755);
      expect((await runtime.start(box)).phase).toBe("running");
    });
  });
});

const ordinary = { uid: 64_123, gid: 64_123 };

const noOther = missing ?? (isRoot ? undefined : "this is an ordinary user already");

describe("bubblewrap, as an ordinary user in a process of its own", () => {
  const results = new Map<string, string | undefined>();

  beforeAll(async () => {
    if (noOther !== undefined) return;
    const directory = join(scratchDir, "ordinary");
    await mkdir(directory, { mode: 0o755 });
    const bundle = await bundleScript("as-user.ts", directory);
    await chown(directory, ordinary.uid, ordinary.gid);
    const ended = await run([process.execPath, bundle, directory], { ...ordinary, timeoutMs: 120_000 });
    for (const line of ended.stdout.split("\n").filter((text) => text !== "")) {
      const { name, error } = JSON.parse(line) as { name: string; error?: string };
      results.set(name, error);
    }
    expect(ended.stderr).toBe("");
  }, 150_000);

  for (const { name } of runtimeConformance) {
    itUnless(noOther)(name, () => {
      expect(results.has(name), "the case was not run").toBe(true);
      expect(results.get(name)).toBeUndefined();
    });
  }
});
