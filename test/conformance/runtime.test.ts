import { chmod, chown, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import bubblewrap from "../../src/drivers/runtime/bubblewrap/index.ts";
import { createMemoryModule } from "../../src/drivers/runtime/memory/index.ts";
import { removeTree } from "../../src/host/files.ts";
import { run } from "../../src/host/run.ts";
import {
  runtimeConformance,
  type RuntimeSubject,
  withRuntimeContext,
} from "../../src/ports/runtime.conformance.ts";
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

function runCases(subject: () => Omit<RuntimeSubject, "scratchDir">, abilities: readonly string[]): void {
  for (const { name, needs, run: runCase } of runtimeConformance) {
    const gap = needs.find((need) => !abilities.includes(need));
    const title = gap === undefined ? name : `${name} (this runtime has no ${gap})`;
    it.skipIf(gap !== undefined)(title, () => withRuntimeContext({ ...subject(), scratchDir }, runCase));
  }
}

describe("memory", () => {
  const module = createMemoryModule();
  const owner = { uid: process.getuid!(), gid: process.getgid!() };
  runCases(() => ({ module, abilities: [], owner, node: process.execPath }), []);
});

const because = missing === undefined ? "" : ` (skipped: ${missing})`;
const owner = isRoot ? { uid: 100_321, gid: 100_321 } : { uid: process.getuid!(), gid: process.getgid!() };

describe.skipIf(missing !== undefined)(
  `bubblewrap, ${isRoot ? "as root" : "as an ordinary user"}${because}`,
  () => {
    runCases(
      () => ({ module: bubblewrap, abilities: ["processes"], owner, node: process.execPath }),
      ["processes"],
    );

    it.runIf(isRoot)("refuses to give a box to root or a system user", async () => {
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

    it.runIf(isRoot)("names the directory that keeps a box's user out", async () => {
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
  },
);

const ordinary = { uid: 64_123, gid: 64_123 };

describe.skipIf(missing !== undefined || !isRoot)(
  `bubblewrap, as an ordinary user in a process of its own${because || (isRoot ? "" : " (this is one already)")}`,
  () => {
    const results = new Map<string, string | undefined>();

    beforeAll(async () => {
      const place = join(scratchDir, "ordinary");
      await mkdir(place, { mode: 0o755 });
      const bundle = await bundleScript("as-user.ts", place);
      await chown(place, ordinary.uid, ordinary.gid);
      const ended = await run([process.execPath, bundle, place], { ...ordinary, timeoutMs: 120_000 });
      for (const line of ended.stdout.split("\n").filter((text) => text !== "")) {
        const { name, error } = JSON.parse(line) as { name: string; error?: string };
        results.set(name, error);
      }
      expect(ended.stderr).toBe("");
    }, 150_000);

    for (const { name } of runtimeConformance) {
      it(name, () => {
        expect(results.has(name), "the case was not run").toBe(true);
        expect(results.get(name)).toBeUndefined();
      });
    }
  },
);
