/**
 * Threat 10, at the model gateway: the model's host as the way out. A box that brings a key of its own could carry
 * everything to the account of the key's owner, and so could any other door of the vendor's, such as its file store.
 */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { modelHost, placeholderKey } from "../../src/contract/model/api.ts";
import { type AgentGround, eventsOf, onAgents, testKey } from "../support/agents.ts";
import { expectDenied, shell, withoutProxy } from "../support/network-ground.ts";

const box = "channel-model";
const foreign = "sk-ant-api03-planted-by-somebody-else";
const base = `http://${modelHost}`;
const ask = (provider: string, path: string, flags: string): string =>
  `curl -sS -m 10 -w '\\n%{http_code}' -H 'content-type: application/json' ${flags} ${base}/${provider}${path}`;

const body = `-d '{"model":"claude-x","max_tokens":16,"messages":[{"role":"user","content":"hello"}]}'`;
const gemini = `-d '{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}'`;
const messages = (flags: string) => ask("anthropic", "/v1/messages", `${flags} ${body}`);

const denied: Readonly<Record<string, { readonly curl: string; readonly code: string }>> = {
  "a key of its own": { curl: messages(`-H 'x-api-key: ${foreign}'`), code: "model.foreign_key" },
  "a token of its own": {
    curl: messages(`-H 'authorization: Bearer ${foreign}'`),
    code: "model.foreign_key",
  },
  "its own key beside the placeholder": {
    curl: messages(`-H 'x-api-key: ${placeholderKey}' -H 'authorization: Bearer ${foreign}'`),
    code: "model.foreign_key",
  },
  "a session of a browser": { curl: messages(`-H 'cookie: session=${foreign}'`), code: "model.foreign_key" },
  "a key in the query": {
    curl: ask("gemini", `/v1beta/models/gemini-x:generateContent?key=${foreign}`, gemini),
    code: "model.foreign_key",
  },
  "the vendor's file store": {
    curl: ask("anthropic", "/v1/files", `-H 'x-api-key: ${placeholderKey}' -F file=@/etc/hostname`),
    code: "model.bad_request",
  },
  "the vendor's administration": {
    curl: ask("anthropic", "/v1/organizations/users", "-X POST -d '{}'"),
    code: "model.bad_request",
  },
  "another vendor by the side door": {
    curl: ask("elsewhere", "/v1/messages", body),
    code: "model.unknown_provider",
  },
};

const cases = (ground: AgentGround): void => {
  for (const [way, prefix] of [
    ["with the proxy variables", ""],
    ["without them", `${withoutProxy.join(" ")} `],
  ] as const) {
    it(`takes no credential but the placeholder and opens no door but answers, ${way}`, async () => {
      const { daemon, model, play } = ground;
      play([{ text: "hello" }]);
      for (const flags of [`-H 'x-api-key: ${placeholderKey}'`, ""]) {
        const { stdout, stderr } = await shell(daemon, box, `${prefix}${messages(flags)}`);
        expect(stdout, stderr).toMatch(/"hello"[\s\S]*\n200$/);
      }
      expect(model.requests.slice(-2).map(({ headers }) => headers["x-api-key"])).toEqual([testKey, testKey]);

      const arrived = model.requests.length;
      for (const [what, { curl, code }] of Object.entries(denied)) {
        const before = (await eventsOf(daemon, box, "model.refused")).length;
        const { stdout } = await shell(daemon, box, `${prefix}${curl}`);
        expect(stdout, what).toMatch(/\n4\d\d$/);
        expect(stdout, what).toContain(code);
        expect(stdout, what).not.toContain(foreign);
        const events = await waitFor(`the refusal of ${what} is recorded`, async () => {
          const found = await eventsOf(daemon, box, "model.refused");
          return found.length > before && found;
        });
        expect(events.at(-1)?.data, what).toMatchObject({ code });
        expect(JSON.stringify(events)).not.toContain(foreign);
      }
      expect(model.requests.length).toBe(arrived);
    });
  }

  it("leaves the vendor's own host as closed as any other", async () => {
    await expectDenied(ground.daemon, box, { host: "api.anthropic.com", reason: "no_rule" }, () =>
      shell(
        ground.daemon,
        box,
        `curl -sS -m 5 -H 'x-api-key: ${foreign}' https://api.anthropic.com/v1/files`,
      ),
    );
  });
};

onAgents("the model's host", {}, (ground) => {
  it("is there for a box with a model only", async () => {
    const { client } = ground.daemon;
    await client.createBox({
      name: box,
      flags: { workspace: { mode: "empty" }, model: { provider: "anthropic" } },
    });
    await client.createBox({ name: "without-model", flags: { workspace: { mode: "empty" } } });
    const look = `curl -sS -m 5 -o /dev/null -w '%{http_code}' ${base}/anthropic/v1/models`;
    expect((await shell(ground.daemon, box, look)).stdout).toBe("200");
    const { stdout } = await shell(ground.daemon, "without-model", look);
    expect(stdout).not.toBe("200");
  });
  cases(ground);
});
