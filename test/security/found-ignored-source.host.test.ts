/**
 * Found by attack: `agents add NAME --from DIR` took the program from a registry, and not the one that the person
 * had named. The registry of this test answers nothing, so what is installed can only be the person's own.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { InstalledTool } from "../../src/contract/tool.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";

const npmAgent = "claude";
const pypiAgent = "aider";

function program(daemon: TestDaemon, name: string): string {
  const directory = join(daemon.scratch, `own-${name}`);
  mkdirSync(join(directory, "bin"), { recursive: true });
  writeFileSync(join(directory, "bin", name), "#!/bin/sh\necho mine\n", { mode: 0o755 });
  return directory;
}

it("installs the program that was named, and no other", async () => {
  const nowhere = "http://127.0.0.1:1/";
  const env = { npm_config_registry: nowhere, npm_config_fetch_retries: "0", PIP_INDEX_URL: nowhere };
  await using daemon = await startDaemon({ env });
  // The control: without --from the registry is asked, and there is none here.
  const asked = await daemon.cli(["agents", "add", npmAgent], { timeoutMs: 60_000 });
  expect(asked.code, asked.stderr).not.toBe(0);
  expect(asked.stderr).toContain("npm");

  for (const agent of [npmAgent, pypiAgent]) {
    const from = program(daemon, agent);
    const { tool } = await daemon.json<{ tool: InstalledTool }>(["agents", "add", agent, "--from", from]);
    expect(tool).toMatchObject({ agent, source: "path", files: 1 });
    expect(tool.version).toMatch(/^local-[0-9a-f]{8}$/);
    const listed = (await daemon.client.listAgents()).find(({ name }) => name === agent);
    expect(listed).toMatchObject({ pinned: tool.version });
    const { checks } = await daemon.json<{ checks: readonly object[] }>(["agents", "doctor"]);
    expect(checks).toContainEqual(expect.objectContaining({ agent, status: "ready", version: tool.version }));

    // Another program under a name that is there already is still the one that was named.
    writeFileSync(join(from, "bin", agent), "#!/bin/sh\necho changed\n", { mode: 0o755 });
    const again = await daemon.json<{ tool: InstalledTool }>([
      "agents",
      "add",
      `${agent}@${tool.version}`,
      "--from",
      from,
    ]);
    expect(again.tool.version).toBe(tool.version);
    expect(again.tool.digest).not.toBe(tool.digest);

    const { events } = await daemon.client.listEvents({ type: "tool.installed", limit: 10 });
    expect(JSON.stringify(events)).toContain(again.tool.digest);
  }

  const wrong = await daemon.cli(["agents", "add", npmAgent, "--from", join(daemon.scratch, "absent")]);
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain("cannot be taken into the tool store");
  const stray = await daemon.cli(["agents", "update", npmAgent, "--from", daemon.scratch]);
  expect(stray).toMatchObject({ code: 2, stderr: expect.stringContaining("--from has no meaning") });
});
