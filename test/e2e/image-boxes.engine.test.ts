/**
 * Boxes that are made from an image, on every engine: the features of the manifest are inside, and nothing is mounted
 * over them.
 */
import { afterAll, beforeAll, describe, expect } from "vitest";
import { openRegistry } from "../../src/services/tool-store/registry.fixture.ts";
import { giveFixture } from "../support/agents.ts";
import type { TestDaemon } from "../support/daemon.ts";
import { engineRequest } from "../support/engine-request.ts";
import { gvisorUnavailable } from "../support/engines.ts";
import {
  type Built,
  buildMs,
  buildShared,
  makeProject,
  manifestDigest,
  startImageDaemon,
  whyNoImages,
} from "../support/image-ground.ts";
import { agree } from "../support/network-ground.ts";
import { itUnless } from "../support/skipping.ts";

const engines = [
  { what: "docker", kind: "docker", runtime: "docker", tier: "container", why: whyNoImages("docker") },
  {
    what: "rootless podman",
    kind: "podman-rootless",
    runtime: "docker",
    tier: "rootless",
    why: whyNoImages("podman-rootless"),
  },
  {
    what: "gvisor",
    kind: "docker",
    runtime: "gvisor",
    tier: "gvisor",
    why: whyNoImages("docker") ?? gvisorUnavailable(),
  },
] as const;

const manifestFor = (runtime: string, packages: string): string =>
  `version = 1
[agent]
name = "notebot"
skills = "./skills"
[runtime]
name = "${runtime}"
${packages}
[workspace]
mode = "empty"
[services.beat]
command = "exec sleep 600"
`;
const server = `[mcp.servers.docs]
command = "npx"
args = ["-y", "@try/docs@1.0.0", "--fast"]
`;
const skill = "---\nname: greet\n---\nSay hello.\n";

describe.each(engines)("a box of an image on $what", ({ kind, runtime, tier, why }) => {
  let registry: Awaited<ReturnType<typeof openRegistry>>;
  let daemon: TestDaemon;
  let socket: string;
  let project: string;
  let built: Built;
  const manifest = `${manifestFor(runtime, 'packages = ["hello"]')}${server}`;
  const itHere = itUnless(why);

  beforeAll(async () => {
    if (why !== undefined) return;
    registry = await openRegistry();
    await registry.publish({
      name: "@try/docs",
      version: "1.0.0",
      files: { "run.js": '#!/usr/bin/env node\nconsole.log("docs", ...process.argv.slice(2));\n' },
      manifest: { bin: { "docs-server": "run.js" } },
    });
    ({ daemon, socket } = await startImageDaemon(kind, { npm_config_registry: registry.url }));
    await giveFixture(daemon, "notebot");
    project = await makeProject(daemon, { "agentbox.toml": manifest, "skills/greet/SKILL.md": skill });
    // A server comes from a registry, past the gate, so a person is asked.
    expect((await daemon.cli(["build", "--json"], { cwd: project })).stderr).toContain("trust.required");
    await agree(daemon, project);
    built = await buildShared(daemon, project);
  }, buildMs);
  afterAll(async () => {
    await daemon?.[Symbol.asyncDispose]();
    await registry?.[Symbol.asyncDispose]();
  });

  const make = async (name: string, cwd: string): Promise<void> => {
    const made = await daemon.cli(["create", "notebot", "--name", name, "--start"], {
      cwd,
      timeoutMs: buildMs,
    });
    expect(made.code, made.stderr).toBe(0);
  };
  const inBox = async (name: string, script: string) =>
    daemon.cli(["exec", name, "--no-stdin", "--", "sh", "-c", script]);

  itHere(
    "has what the manifest enables inside, and the host's own system has it not",
    async () => {
      const bare = await makeProject(daemon, {
        "agentbox.toml": manifestFor(runtime, ""),
        "skills/greet/SKILL.md": skill,
      });
      // The control: a box without an image has no such program, and gets ours by mounts.
      await make("bare-box", bare);
      const programs = "command -v hello; grep -c ' /opt/agentbox/' /proc/mounts; true";
      expect((await inBox("bare-box", programs)).stdout).toMatch(/^[1-9]\d*\n$/);
      await daemon.client.removeBox("bare-box", { force: true });

      await make("image-box", project);
      expect((await inBox("image-box", programs)).stdout).toBe("/usr/bin/hello\n0\n");
      const { stdout } = await inBox(
        "image-box",
        "hello; git --version; node -p process.version; cat /opt/agentbox/skills/greet/SKILL.md; head -n1 /opt/agentbox/agents/notebot/notebot",
      );
      expect(stdout).toContain("Hello, world!");
      expect(stdout).toMatch(/git version \d/);
      expect(stdout).toContain(process.version);
      expect(stdout).toContain("Say hello.");
      expect(stdout).toContain("#!/usr/bin/env node");
      const { box } = await daemon.client.getBox("image-box");
      const [docs] = box.spec.mcp as { command: string; args: string[] }[];
      // No download: the box has no network at all.
      expect((await inBox("image-box", [docs!.command, ...docs!.args].join(" "))).stdout).toBe(
        "docs --fast\n",
      );
      expect(box.isolation.tier).toBe(tier);
    },
    buildMs,
  );

  itHere("lets programs be installed into the home, and says what to do instead of apt-get", async () => {
    const install = `mkdir -p /tmp/x/bin ~/.local/bin && printf '#!/bin/sh\\necho mine\\n' > ~/.local/bin/of-the-home
      chmod +x ~/.local/bin/of-the-home && echo $PATH`;
    // The control: it is there only because it was put there.
    expect((await inBox("image-box", "of-the-home")).code).toBe(127);
    expect((await inBox("image-box", install)).stdout).toContain("/home/agent/.local/bin:");
    expect((await inBox("image-box", "of-the-home")).stdout).toBe("mine\n");
    const refused = await inBox("image-box", "apt-get install -y jq");
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('packages = ["jq"]');
  });

  itHere("is as closed as any other, and comes up again with its home", async () => {
    const paths = ["/usr/bin/hello", "/etc/passwd", "/opt/agentbox/boxd", "/planted"];
    for (const path of paths) {
      const { code } = await inBox("image-box", `echo x >> ${path} || touch ${path}/x`);
      expect(code, path).not.toBe(0);
    }
    // The control: what is the box's own can be written.
    expect((await inBox("image-box", "echo kept > ~/kept && echo x > /workspace/x")).code).toBe(0);
    expect((await inBox("image-box", "id -u")).stdout).not.toBe("0\n");
    await daemon.client.restartBox("image-box");
    expect((await inBox("image-box", "cat ~/kept; hello -t")).stdout).toBe("kept\nhello, world\n");
    await daemon.client.removeBox("image-box", { force: true });
  });

  itHere("is labelled with its manifest, made of thin layers, and lists its parts", async () => {
    const { image } = built;
    const { text } = await engineRequest(socket, "GET", `/v1.41/images/${image.id}/json`);
    const { Config } = JSON.parse(text) as {
      Config: { Labels: Record<string, string>; Entrypoint?: string[]; User?: string };
    };
    expect(Config.Labels).toMatchObject({
      "agentbox.manifest": manifestDigest(manifest),
      "agentbox.inputs": image.inputs,
      "agentbox.agent": image.agent,
    });
    expect(image.layers.map(({ name }) => name)).toEqual([
      "base",
      "node",
      "boxd",
      "agent notebot",
      "mcp docs",
      "skills",
    ]);
    const sbom = await daemon.client.getSbom({ name: image.id });
    const names = (sbom["components"] as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["hello", "git", "node", "agentbox-boxd", "notebot", "docs", "skills"]),
    );
    // Only what is enabled: the manifest named one agent.
    expect(names.filter((name) => ["claude", "codex", "gemini"].includes(name))).toEqual([]);
  });
});
