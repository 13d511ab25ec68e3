import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { BoxSpec } from "../../src/contract/box.ts";
import type { ImageInfo } from "../../src/contract/image.ts";
import { giveFixture } from "../support/agents.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { engineRequest } from "../support/engine-request.ts";
import { engineUnavailable, startDocker } from "../support/engines.ts";
import { hasProgram } from "../support/host-facts.ts";
import { itUnless } from "../support/skipping.ts";

const unavailable =
  engineUnavailable("docker") ?? (hasProgram("mmdebstrap") ? undefined : "not installed: mmdebstrap");
const itBuilds = itUnless(unavailable);
const buildMs = 600_000;

/** A package that hardly any host has. */
const manifest = `version = 1
[agent]
name = "shell"
[runtime]
name = "docker"
packages = ["hello"]
[workspace]
mode = "empty"
`;

interface Built {
  readonly image: ImageInfo;
  readonly isNew: boolean;
}

describe("images", () => {
  let daemon: TestDaemon;
  let socket: string;
  let project: string;

  const open = async (): Promise<TestDaemon> => {
    const proxies = ["http_proxy", "https_proxy", "no_proxy"].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    );
    return startDaemon({ env: { ...Object.fromEntries(proxies), AGENTBOX_ENGINE: `unix://${socket}` } });
  };
  const makeProject = ({ scratch }: TestDaemon, name: string, text: string): string => {
    const dir = join(scratch, name);
    mkdirSync(dir, { mode: 0o755 });
    writeFileSync(join(dir, "agentbox.toml"), text, { mode: 0o644 });
    return dir;
  };
  const build = (on: TestDaemon, cwd: string, ...args: string[]): Promise<Built> =>
    on.json<Built>(["build", ...args], { cwd, timeoutMs: buildMs });
  const layersLeft = (): string[] =>
    readdirSync(join(daemon.home, "images", "layers")).filter((name) => name.startsWith("."));

  beforeAll(async () => {
    if (unavailable !== undefined) return;
    ({ socket } = await startDocker());
    daemon = await open();
    project = makeProject(daemon, "project", manifest);
  }, 120_000);
  afterAll(async () => daemon?.[Symbol.asyncDispose]());

  itBuilds(
    "gives the same image twice, on a fresh cache too, and does nothing when nothing changed",
    async () => {
      const began = performance.now();
      const first = await build(daemon, project);
      const builtMs = performance.now() - began;
      expect(first).toMatchObject({ isNew: true, image: { agent: "shell", packages: ["hello"] } });
      const took: number[] = [];
      for (let round = 0; round < 3; round++) {
        const beganMs = performance.now();
        expect(await build(daemon, project)).toEqual({ ...first, isNew: false });
        took.push(performance.now() - beganMs);
      }
      expect(Math.min(...took) / builtMs).toBeLessThan(0.1);

      await using other = await open();
      const again = await build(other, makeProject(other, "another-place", manifest), "--sbom", "parts.json");
      expect(again.isNew).toBe(true);
      expect(again.image).toMatchObject({ id: first.image.id, inputs: first.image.inputs });
      const parts = readFileSync(join(other.scratch, "another-place", "parts.json"), "utf8");
      const { components } = JSON.parse(parts) as { components: { name: string; purl?: string }[] };
      expect(components.find(({ name }) => name === "hello")?.purl).toMatch(/^pkg:deb\/debian\/hello@/);
      expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(["node", "agentbox-boxd"]));
    },
    2 * buildMs,
  );

  itBuilds(
    "holds what was asked for and nothing of the host's configuration",
    async () => {
      const { image } = await build(daemon, project);
      const inspected = await engineRequest(socket, "GET", `/images/${image.id}/json`);
      expect(inspected.text).toContain(image.inputs);
      const run = (script: string, ...flags: string[]) =>
        daemon.cli(["run", "shell", ...flags, "--", "sh", "-c", script], {
          cwd: project,
          timeoutMs: 120_000,
        });
      // The control: the same box of the host's own system has no such program, and our tools are mounts in it.
      const bare = makeProject(
        daemon,
        "bare",
        'version = 1\n[workspace]\nmode = "empty"\n[runtime]\nname = "docker"\n',
      );
      const looks = "command -v hello; grep -c ' /opt/agentbox/' /proc/mounts";
      const control = await daemon.cli(["run", "shell", "--", "sh", "-c", looks], { cwd: bare });
      expect(control.stdout.trim()).toMatch(/^[1-9]\d*$/);
      expect((await run(looks)).stdout).toBe("/usr/bin/hello\n0\n");
      expect((await run("hello --version | head -1; git --version")).stdout).toMatch(
        /GNU Hello[^]*git version/,
      );
      const leaks =
        "ls /etc/apt/sources.list /etc/apt/sources.list.d /var/log/apt /var/lib/apt/lists/*_* 2>/dev/null";
      expect((await run(`${leaks}; true`)).stdout).toBe("");
    },
    buildMs,
  );

  itBuilds(
    "is built by itself when the manifest changes, and shares its layers between agents",
    async () => {
      await giveFixture(daemon, "notebot");
      const { image } = await build(daemon, project);
      const agent = (await build(daemon, project, "notebot")).image;
      expect(agent.agent).toMatch(/^notebot@/);
      const own = agent.layers.filter(({ digest }) => !image.layers.some((layer) => layer.digest === digest));
      expect(own.map(({ name }) => name)).toEqual(["agent notebot"]);

      writeFileSync(join(project, "agentbox.toml"), `${manifest}# another word\n`);
      const made = await daemon.cli(["create", "shell", "--name", "changed-box"], {
        cwd: project,
        timeoutMs: buildMs,
      });
      expect({ code: made.code, stderr: made.stderr }).toMatchObject({ code: 0 });
      const { spec } = (await daemon.client.getBox("changed-box")).box as { spec: BoxSpec };
      const [newest] = await daemon.client.listImages();
      expect(spec.image).toBe(newest!.id);
      expect(spec.image).not.toBe(image.id);

      const used = await daemon.cli(["images", "rm", newest!.id, "--json"]);
      expect({ code: used.code, said: used.stderr + used.stdout }).toMatchObject({
        code: 4,
        said: expect.stringContaining("image.in_use"),
      });
      await daemon.client.removeBox("changed-box", { force: true });
      expect((await daemon.cli(["images", "rm", newest!.id])).code).toBe(0);
      writeFileSync(join(project, "agentbox.toml"), manifest);
    },
    buildMs,
  );

  itBuilds(
    "begins with an image of the engine, pinned in agentbox.lock",
    async () => {
      const { image } = await build(daemon, project);
      const text = manifest.replace('packages = ["hello"]', `image = "${image.reference}"`);
      const dir = makeProject(daemon, "named", text);
      const given = { projectDir: dir, manifest: { file: join(dir, "agentbox.toml"), text } };
      const { digest } = await daemon.client.askTrust(given);
      await daemon.client.grantTrust({ ...given, digest });
      const made = await daemon.json<{ box: { spec: BoxSpec } }>(["create", "shell", "--name", "named-box"], {
        cwd: dir,
        timeoutMs: buildMs,
      });
      const lock = JSON.parse(readFileSync(join(dir, "agentbox.lock"), "utf8")) as { images: object };
      expect(lock.images).toEqual({ [image.reference]: image.id });
      expect(made.box.spec.image).not.toBe(image.id);
      await daemon.client.startBox("named-box");
      expect((await daemon.cli(["exec", "named-box", "--", "hello"])).stdout).toBe("Hello, world!\n");
      await daemon.client.removeBox("named-box", { force: true });
    },
    buildMs,
  );

  itBuilds(
    "refuses what cannot be built, and leaves nothing of it",
    async () => {
      const refused = async (line: string, flags: readonly string[] = []) => {
        const dir = makeProject(
          daemon,
          `bad-${Math.random().toString(36).slice(2)}`,
          manifest.replace(/packages.*/, line),
        );
        const { code, stderr, stdout } = await daemon.cli(["build", ...flags, "--json"], {
          cwd: dir,
          timeoutMs: buildMs,
        });
        return { code, said: stderr + stdout };
      };
      expect(await refused('packages = ["no-such-package-anywhere"]')).toMatchObject({
        code: 1,
        said: expect.stringMatching(/image\.build_failed[^]*no-such-package-anywhere/),
      });
      for (const line of [
        'image = "debian:12;id"',
        'image = "$(id)"',
        'packages = ["--help"]',
        'packages = ["a b"]',
      ]) {
        expect((await refused(line)).said, line).toContain("manifest.invalid");
      }
      expect(
        await daemon.cli(["run", "--runtime", "bubblewrap", "shell", "--", "true"], { cwd: project }),
      ).toMatchObject({
        stderr: expect.stringContaining("runtime.unsupported"),
      });
      expect(layersLeft()).toEqual([]);
    },
    buildMs,
  );

  itBuilds(
    "gives up when nobody waits any more, and leaves nothing half-made",
    async () => {
      const before = (await daemon.client.listImages()).length;
      const flags = { runtime: { name: "docker", packages: ["hello", "jq"] }, workspace: { mode: "empty" } };
      const gone = new AbortController();
      for await (const step of daemon.client.buildImage({ flags }, gone.signal)) {
        expect(step).toMatchObject({ type: "progress" });
        // In the middle: the base is being made, in a place of its own.
        await waitFor("the base is being made", () => layersLeft().length > 0 || undefined);
        break;
      }
      gone.abort();
      await waitFor("nothing is left of the build", () => layersLeft().length === 0 || undefined, 60_000);
      expect((await daemon.client.listImages()).length).toBe(before);
      const isLeft = readdirSync(daemon.home).some((name) => name.startsWith("mmdebstrap"));
      expect(isLeft).toBe(false);
    },
    buildMs,
  );

  itBuilds("removes what no box and no locked project uses", async () => {
    const { removed } = await daemon.json<{ removed: string[] }>(["images", "prune"]);
    expect(removed.length).toBeGreaterThan(0);
    const left = await daemon.client.listImages();
    // Only the project with a lock file keeps its newest.
    expect(left.map(({ projectDir }) => projectDir)).toEqual([join(daemon.scratch, "named")]);
    for (const reference of removed) {
      expect((await engineRequest(socket, "GET", `/images/${reference}/json`)).status).toBe(404);
    }
  });
});
