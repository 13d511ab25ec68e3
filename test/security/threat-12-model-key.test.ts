/**
 * Threat 12: the real secret in the box, because the part that should have put it in elsewhere was off. Here none can
 * be: the key is put in behind the gate or the request is refused, and no way to the gateway hands it over.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { modelHost } from "../../src/contract/model/api.ts";
import { filesWith, onAgents, testKey, watch } from "../support/agents.ts";
import { shell } from "../support/network-ground.ts";

/** The reach of a curious agent: environments, command lines, open files, and every directory it may write to. */
const look = `{ cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/fd/[0-9]* 2>/dev/null < /dev/null & sleep 1; kill $!; } | tr '\\0' '\\n'
grep -rsa 'canary' /workspace /home/agent /run/agentbox /tmp /etc/hosts /opt/agentbox/skills 2>/dev/null; env`;

onAgents("the key of a model", { fixtures: ["notebot"] }, (ground) => {
  it("is nowhere in a box that uses it, nor in what the daemon keeps", async () => {
    const { daemon, model } = ground;
    const cwd = await ground.project({
      "agentbox.toml": 'version = 1\n[env]\nVISIBLE = "canary-of-the-control"\n',
    });
    ground.play([{ text: "a note" }]);
    const run = await watch(daemon, ["run", "notebot", "--name", "keyed", "--task", "Write."], { cwd });
    expect(run.ended, run.stdout + run.stderr).toMatchObject({ verdict: "done" });
    expect(JSON.stringify(model.requests.at(-1)?.headers)).toContain(testKey);

    await daemon.client.createBox({
      name: "curious",
      flags: {
        workspace: { mode: "empty" },
        model: { provider: "openai" },
        env: { VISIBLE: "canary-of-the-control" },
      },
    });
    await shell(daemon, "curious", "echo canary-in-a-file > /tmp/file");
    const { stdout } = await shell(daemon, "curious", look);
    for (const control of ["canary-of-the-control", "canary-in-a-file"]) expect(stdout).toContain(control);
    expect(stdout).not.toContain(testKey);

    const kept = join(daemon.home, "control");
    mkdirSync(kept);
    writeFileSync(join(kept, "file"), testKey);
    expect(await filesWith(daemon.home, testKey)).toEqual([join(kept, "file")]);
    expect(daemon.log()).not.toContain(testKey);
  });

  it("is handed over on no way to the gateway", async () => {
    const { daemon, model } = ground;
    ground.play([{ text: "an answer" }]);
    const post = `-d '{"model":"m","messages":[{"role":"user","content":"hello"}]}' -H 'content-type: application/json'`;
    const url = `http://${modelHost}/openai/v1/chat/completions`;
    const arrived = model.requests.length;
    const ways = [
      `curl -sSi -m 5 ${post} ${url}`,
      `curl -sSi -m 5 -p ${post} ${url}`,
      `curl -sSi -m 5 --noproxy '*' ${post} ${url}`,
    ];
    for (const way of ways) {
      const { stdout } = await shell(daemon, "curious", way);
      expect(stdout, way).toContain("an answer");
      expect(stdout, way).not.toContain(testKey);
    }
    expect(
      model.requests.slice(arrived).filter(({ headers }) => headers.authorization === `Bearer ${testKey}`),
    ).toHaveLength(3);
    // Nothing that would repeat a request back, and no other port of the same name.
    for (const way of [
      `curl -sSi -m 5 -X TRACE ${url}`,
      `curl -sSi -m 5 -k https://${modelHost}/openai/v1/models`,
      `curl -sSi -m 5 http://${modelHost}:8080/openai/v1/models`,
    ]) {
      const { stdout } = await shell(daemon, "curious", way);
      expect(stdout, way).not.toMatch(/HTTP\/[\d.]+ 200 OK[\s\S]*data/);
      expect(stdout, way).not.toContain(testKey);
    }
    expect(model.requests).toHaveLength(arrived + 3);
  });
});
