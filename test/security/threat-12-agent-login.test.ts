/**
 * Threat 12, for subscriptions and keys in the vault: boxes use them at the model gateway and hold nothing of them, and
 * where one cannot be had the request is refused. It is never sent without, nor with something else.
 */
import { mkdirSync, statSync, chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { modelHost } from "../../src/contract/model/api.ts";
import { filesWith, onAgents } from "../support/agents.ts";
import { shell } from "../support/network-ground.ts";
import { runtimeConfig } from "../support/test-runtime.ts";

const accessToken = "sk-ant-oat01-canary-of-the-access-token";
const refreshToken = "sk-ant-ort01-canary-of-the-refresh-token";
const vaultKey = "sk-canary-of-the-key-in-the-vault";
const secrets = [accessToken, refreshToken, vaultKey];

const look = `{ cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/fd/[0-9]* 2>/dev/null < /dev/null & sleep 1; kill $!; } | tr '\\0' '\\n'
grep -rsa 'canary' /workspace /home/agent /run/agentbox /tmp /etc 2>/dev/null; env`;

const body = `-H 'content-type: application/json' -d '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}'`;
const claude = `curl -sS -i -m 10 ${body} -H 'anthropic-beta: effort-2025-11-24,own-1' http://${modelHost}/anthropic/v1/messages`;
const chat = `curl -sS -i -m 10 ${body} http://${modelHost}/openai/v1/chat/completions`;

onAgents("a login in the vault", { fixtures: [] }, (ground) => {
  it("is put in behind the gate, and is nowhere in the box nor in the clear on the host", async () => {
    const { daemon, model } = ground;
    const config = join(daemon.home, "config.toml");
    const provider = (name: string, key: string) =>
      `[model.providers.${name}]\napi = "${name}"\nbase_url = "${model.url}"\nkey = "vault:${key}"\n`;
    const { uid, gid } = statSync(config);
    const providers = provider("anthropic", "login/claude") + provider("openai", "work");
    writeFileSync(config, runtimeConfig + providers, { mode: 0o600 });
    chownSync(config, uid, gid);
    const file = join(daemon.scratch, "credentials.json");
    const claudeAiOauth = { accessToken, refreshToken, expiresAt: Date.now() + 3_600_000, scopes: [] };
    writeFileSync(file, JSON.stringify({ claudeAiOauth }));
    expect(await daemon.cli(["login", "claude", "--from", file, "--yes"])).toMatchObject({ code: 0 });
    const kept = await daemon.client.addSecret({
      name: "work",
      value: Buffer.from(vaultKey).toString("base64"),
    });
    expect(kept.name).toBe("work");

    await daemon.client.createBox({
      name: "curious",
      flags: {
        workspace: { mode: "empty" },
        model: { provider: "anthropic" },
        env: { VISIBLE: "canary-of-the-control" },
      },
    });
    ground.play([{ text: "an answer" }]);
    for (const way of [claude, chat]) {
      const { stdout } = await shell(daemon, "curious", way);
      expect(stdout, way).toContain("an answer");
      for (const secret of secrets) expect(stdout).not.toContain(secret);
    }
    expect(model.requests.at(-2)?.headers).toMatchObject({
      authorization: `Bearer ${accessToken}`,
      "anthropic-beta": "effort-2025-11-24,oauth-2025-04-20",
    });
    expect(model.requests.at(-1)?.headers).toMatchObject({ authorization: `Bearer ${vaultKey}` });

    const { stdout } = await shell(daemon, "curious", look);
    expect(stdout).toContain("canary-of-the-control");
    for (const secret of secrets) expect(stdout).not.toContain(secret);
    const control = join(daemon.home, "control");
    mkdirSync(control);
    for (const secret of secrets) {
      writeFileSync(join(control, "file"), secret);
      expect(await filesWith(daemon.home, secret)).toEqual([join(control, "file")]);
      expect(daemon.log()).not.toContain(secret);
    }
  });

  it("leaves a receipt for every use, and the chain of them is whole", async () => {
    const { daemon } = ground;
    const used = await daemon.client.secretAudit({ box: "curious" });
    expect(used.map(({ secret, isInjected }) => [secret, isInjected])).toEqual([
      ["work", true],
      ["login/claude", true],
    ]);
    expect(await daemon.client.verifyAudit()).toMatchObject({ isWhole: true });
  });

  it("that is gone is a refusal, and nothing is sent in its place", async () => {
    const { daemon, model } = ground;
    ground.play([{ text: "an answer" }]);
    const arrived = model.requests.length;
    expect(await daemon.cli(["login", "rm", "claude", "--yes"])).toMatchObject({ code: 0 });
    const { stdout } = await shell(daemon, "curious", claude);
    expect(stdout).toMatch(/HTTP\/1.1 401/);
    expect(stdout).toContain("agentbox login claude");
    expect(model.requests).toHaveLength(arrived);
    // The control: the other secret still goes.
    expect((await shell(daemon, "curious", chat)).stdout).toContain("an answer");
    const [, refused] = await daemon.client.secretAudit({ box: "curious" });
    expect(refused).toMatchObject({
      secret: "login/claude",
      isInjected: false,
      reason: "secret_unavailable",
    });
  });
});
