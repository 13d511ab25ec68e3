/** An engine behind ssh: the conformance cases where it shares this host's files, and a clear word where it does not. */
import { chmod, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, vi } from "vitest";
import { createDockerModule } from "../../src/drivers/runtime/engine/docker.ts";
import { parseEngineUrl } from "../../src/host/engine/address.ts";
import { removeTree } from "../../src/host/files.ts";
import { runtimeConformance, withRuntimeContext } from "../../src/ports/runtime.conformance.ts";
import type { RuntimeModule } from "../../src/ports/runtime.ts";
import { engineRequest } from "../support/engine-request.ts";
import { engineUnavailable, startDocker } from "../support/engines.ts";
import { openSshRoute, sshUnavailable, type SshRoute } from "../support/engine-over-ssh.ts";
import { startOwnDocker } from "../support/own-engine.ts";
import { itUnless } from "../support/skipping.ts";

const missing = engineUnavailable("docker") ?? sshUnavailable();
const owner = { uid: 100_321, gid: 100_321 };

describe("docker, over ssh", () => {
  const path = process.env["PATH"];
  let route: SshRoute;
  let scratchDir: string;
  let module: RuntimeModule;
  let url: string;

  beforeAll(async () => {
    if (missing !== undefined) return;
    scratchDir = await mkdtemp(join(tmpdir(), "agentbox-conformance-"));
    await chmod(scratchDir, 0o755);
    route = await openSshRoute();
    process.env["PATH"] = `${route.programs}:${path}`;
    url = route.url((await startDocker()).socket);
    module = createDockerModule({ address: parseEngineUrl(url, "the test") });
  }, 60_000);
  afterAll(async () => {
    process.env["PATH"] = path;
    if (missing !== undefined) return;
    await route[Symbol.asyncDispose]();
    await removeTree(scratchDir);
  });

  for (const { name, run } of runtimeConformance) {
    itUnless(missing)(
      name,
      () =>
        withRuntimeContext(
          { module, abilities: ["processes"], owner, node: process.execPath, scratchDir },
          run,
        ),
      60_000,
    );
  }

  for (const { what, said, script } of [
    { what: "files", said: "bind source path does not exist", script: 'mount -t tmpfs none "$0"' },
    {
      // As in a virtual machine that shares its host's directories: what is in them is seen, but has another kernel.
      what: "sockets",
      said: "cannot reach a socket of this host",
      script: 'mkdir "$0.empty" && mount -t overlay none -o "lowerdir=$0:$0.empty" "$0"',
    },
  ]) {
    itUnless(missing)(
      `an engine whose boxes do not see this host's ${what} is broken, and nothing is left there`,
      async () => {
        const hidden = await mkdtemp(join(tmpdir(), "abx-hid-"));
        await chmod(hidden, 0o755);
        const start = `${script} && exec "$@"`;
        const wrap = ["unshare", "--mount", "--propagation", "private", "sh", "-c", start, hidden];
        const engine = await startOwnDocker(`no-${what}`, { wrap });
        const far = createDockerModule({ address: parseEngineUrl(route.url(engine.socket), "the test") });
        try {
          vi.stubEnv("TMPDIR", hidden);
          const probe = await far.probe();
          expect(probe).toMatchObject({
            status: "broken",
            reason: expect.stringContaining("found nothing of this host there") as string,
            fix: { hint: expect.stringContaining("Run AgentBox on the engine's own host") as string },
          });
          expect(probe.status === "broken" && probe.reason).toContain(said);
          const { text } = await engineRequest(engine.socket, "GET", "/v1.41/containers/json?all=true");
          expect(JSON.parse(text)).toEqual([]);
          expect((await readdir(hidden)).filter((name) => name.startsWith("agentbox-probe-"))).toEqual([]);
          // The control: the same engine, where it sees what is here.
          vi.unstubAllEnvs();
          expect(await far.probe()).toMatchObject({ status: "ready" });
        } finally {
          vi.unstubAllEnvs();
          await engine.stop();
          for (const made of [hidden, `${hidden}.empty`]) await removeTree(made);
        }
      },
      120_000,
    );
  }

  itUnless(missing)(
    "a host that is not the one that is known is refused",
    async () => {
      const { socket } = await startDocker();
      const strange = await openSshRoute();
      strange.forgetHostKey();
      // Its own address, so that its own way is opened.
      process.env["PATH"] = `${strange.programs}:${path}`;
      try {
        const address = parseEngineUrl(strange.url(socket), "the test");
        expect(await createDockerModule({ address }).probe()).toMatchObject({
          status: "broken",
          reason: expect.stringContaining("Host key verification failed") as string,
          fix: { hint: expect.stringContaining("ssh root@127.0.0.1") as string },
        });
      } finally {
        process.env["PATH"] = `${route.programs}:${path}`;
        await strange[Symbol.asyncDispose]();
      }
    },
    60_000,
  );
});
