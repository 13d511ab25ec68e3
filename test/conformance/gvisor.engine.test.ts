/** gVisor under a real engine: the conformance cases, and what only this boundary must say about itself. */
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { createGvisorModule } from "../../src/drivers/runtime/engine/gvisor.ts";
import { createEngineModule } from "../../src/drivers/runtime/engine/module.ts";
import { parseEngineUrl } from "../../src/host/engine/address.ts";
import { removeTree } from "../../src/host/files.ts";
import {
  runtimeConformance,
  type RuntimeSubject,
  withRuntimeContext,
} from "../../src/ports/runtime.conformance.ts";
import { gvisorUnavailable, startDocker } from "../support/engines.ts";
import { itUnless } from "../support/skipping.ts";

const missing = gvisorUnavailable();

describe("gvisor", () => {
  let subject: RuntimeSubject;

  beforeAll(async () => {
    if (missing !== undefined) return;
    const scratchDir = await mkdtemp(join(tmpdir(), "agentbox-conformance-"));
    await chmod(scratchDir, 0o755);
    const address = parseEngineUrl(`unix://${(await startDocker()).socket}`, "the test");
    const owner = { uid: 100_321, gid: 100_321 };
    const module = createGvisorModule({ address });
    subject = { module, abilities: ["processes"], owner, node: process.execPath, scratchDir };
  }, 60_000);
  afterAll(() => (subject === undefined ? undefined : removeTree(subject.scratchDir)));

  for (const { name, run } of runtimeConformance)
    itUnless(missing)(name, () => withRuntimeContext(subject, run), 60_000);

  itUnless(missing)("claims its tier and its own kernel, and no limit that it cannot hold", () =>
    withRuntimeContext(subject, async ({ runtime, makeBox }) => {
      const { tier, guarantees } = runtime.isolation({ resources: { pids: 100, required: [] } });
      const claims = new Map(guarantees.map(({ name, isEnforced }) => [name, isEnforced]));
      expect(tier).toBe("gvisor");
      expect(Object.fromEntries(claims)).toMatchObject({ "own kernel": true, "process limit": false });
      const strict = await makeBox("strict", { resources: { pids: 100, required: ["pids"] } });
      await expect(runtime.start(strict)).rejects.toMatchObject({ code: "policy.unenforceable" });
      // The control: the same number as a wish starts.
      const wish = await makeBox("wish", { resources: { pids: 100, required: [] } });
      expect((await runtime.start(wish)).phase).toBe("running");
    }),
  );

  itUnless(missing)("is absent where the engine does not know it, and says what to write where", async () => {
    const address = parseEngineUrl(`unix://${(await startDocker()).socket}`, "the test");
    const trial = { script: "process.exit(0)", hint: "what to write" };
    const under = (ociRuntime: string) =>
      createEngineModule({ address, name: "other", description: "", ociRuntime, trial }).probe();
    expect(await under("runsc-nowhere")).toMatchObject({ status: "absent", fix: { hint: "what to write" } });
    expect(await under("runsc")).toMatchObject({ status: "ready" });
  });

  itUnless(missing)("is broken where a trial box lacks something, and says what", async () => {
    const address = parseEngineUrl(`unix://${(await startDocker()).socket}`, "the test");
    const script = 'process.stderr.write("no such thing\\n", () => process.exit(1))';
    const trial = { script, hint: "what to write" };
    const module = createEngineModule({
      address,
      name: "other",
      description: "",
      ociRuntime: "runsc",
      trial,
    });
    const probe = await module.probe();
    expect(probe).toMatchObject({ status: "broken", fix: { hint: "what to write" } });
    expect(probe).toMatchObject({ reason: expect.stringContaining("no such thing") as string });
  });
});
