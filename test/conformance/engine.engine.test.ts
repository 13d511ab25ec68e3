import { chmod, chown, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { createDockerModule } from "../../src/drivers/runtime/engine/docker.ts";
import { parseEngineUrl } from "../../src/host/engine/address.ts";
import { openEngine } from "../../src/host/engine/index.ts";
import { removeTree } from "../../src/host/files.ts";
import { run } from "../../src/host/run.ts";
import { runtimeConformance, withRuntimeContext } from "../../src/ports/runtime.conformance.ts";
import type { RuntimeModule } from "../../src/ports/runtime.ts";
import {
  engineUnavailable,
  remappedRoot,
  rootlessUser,
  startDocker,
  startEngine,
  startPodmanRootless,
} from "../support/engines.ts";
import { itUnless } from "../support/skipping.ts";
import { bundleScript } from "./bundle.ts";

const abilities = ["processes"];
const plainOwner = { uid: 100_321, gid: 100_321 };
const missing = engineUnavailable("docker");

let scratchDir: string;
beforeAll(async () => {
  scratchDir = await mkdtemp(join(tmpdir(), "agentbox-conformance-"));
  await chmod(scratchDir, 0o755);
});
afterAll(() => removeTree(scratchDir));

/** Where users are mapped, the one that is 1000 inside. */
const mappedOwner = { uid: remappedRoot + 1000, gid: remappedRoot + 1000 };

for (const { what, kind, owner } of [
  { what: "docker, rootful", kind: "docker", owner: plainOwner },
  { what: "docker, rootful, with users mapped", kind: "docker-remap", owner: mappedOwner },
  { what: "podman, rootful", kind: "podman", owner: plainOwner },
] as const) {
  describe(what, () => {
    const why = engineUnavailable(kind);
    let module: RuntimeModule;

    beforeAll(async () => {
      if (why !== undefined) return;
      const { socket } = await startEngine(kind);
      module = createDockerModule({ address: parseEngineUrl(`unix://${socket}`, "the test") });
    }, 60_000);

    for (const { name, run } of runtimeConformance) {
      itUnless(why)(
        name,
        () => withRuntimeContext({ module, abilities, owner, node: process.execPath, scratchDir }, run),
        60_000,
      );
    }
  });
}

describe("docker, bad input", () => {
  const subject = (module: RuntimeModule) => ({
    module,
    abilities,
    owner: plainOwner,
    node: process.execPath,
    scratchDir,
  });
  const open = async () => {
    const address = parseEngineUrl(`unix://${(await startDocker()).socket}`, "the test");
    return { module: createDockerModule({ address }), engine: await openEngine({ address }) };
  };

  itUnless(missing)(
    "an image that is missing, a name that is taken outside AgentBox, a capability that is never given",
    async () => {
      const { module, engine } = await open();
      await withRuntimeContext(subject(module), async ({ runtime, makeBox }) => {
        const box = await makeBox("taken");
        await expect(runtime.start({ ...box, image: "agentbox-nowhere:1" })).rejects.toMatchObject({
          code: "image.not_found",
        });
        const exception = { name: "x", reason: "y", devices: [], tmpfs: {}, gpus: 0 };
        const admin = { ...exception, capabilities: ["SYS_ADMIN"] };
        await expect(runtime.start({ ...box, exceptions: [admin] })).rejects.toMatchObject({
          code: "runtime.unsupported",
        });
        // The control, which also makes sure that there is an image to make the other container from.
        expect((await runtime.start(box)).phase).toBe("running");
        await runtime.remove("taken");
        expect(await runtime.list()).toEqual([]);

        const [image] = await engine.client.listImages();
        const other = await engine.client.createContainer({
          name: "agentbox-taken",
          Image: image!.Id,
          Cmd: ["/bin/true"],
        });
        try {
          await expect(runtime.start(box)).rejects.toMatchObject({ code: "box.name_taken" });
          expect(await runtime.list()).toEqual([]);
        } finally {
          await other.remove({ force: true });
        }
        expect((await runtime.start(box)).phase).toBe("running");
      });
    },
    60_000,
  );
});

describe("docker, rootless", () => {
  itUnless(engineUnavailable("docker-rootless"))(
    "is refused with a way out, because a box would have to be root in it",
    async () => {
      const { socket } = await startEngine("docker-rootless");
      const address = parseEngineUrl(`unix://${socket}`, "the test");
      expect((await openEngine({ address })).facts).toMatchObject({ kind: "docker", isRootless: true });
      expect(await createDockerModule({ address }).probe()).toMatchObject({
        status: "broken",
        reason: expect.stringContaining("a box is never root") as string,
        fix: { hint: expect.stringContaining("rootless Podman") as string },
      });
    },
    60_000,
  );
});

const noPodman = engineUnavailable("podman-rootless");

describe("podman, rootless", () => {
  const results = new Map<string, string | undefined>();

  beforeAll(async () => {
    if (noPodman !== undefined) return;
    const { socket } = await startPodmanRootless();
    const directory = join(scratchDir, "rootless");
    await mkdir(directory, { mode: 0o755 });
    const bundle = await bundleScript("engine-as-user.ts", directory);
    await chown(directory, rootlessUser.uid, rootlessUser.gid);
    const ended = await run([process.execPath, bundle, directory, socket], {
      ...rootlessUser,
      timeoutMs: 400_000,
    });
    for (const line of ended.stdout.split("\n").filter((text) => text !== "")) {
      const { name, error } = JSON.parse(line) as { name: string; error?: string };
      results.set(name, error);
    }
    expect(ended.stderr).toBe("");
  }, 420_000);

  for (const { name } of runtimeConformance) {
    itUnless(noPodman)(name, () => {
      expect(results.has(name), "the case was not run").toBe(true);
      expect(results.get(name)).toBeUndefined();
    });
  }
});
