import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import type { Client } from "../../client/index.ts";
import { parseArguments } from "../line/arguments.ts";
import type { CommandContext } from "../command.ts";
import { Screen, type ScreenStreams } from "../render/screen.ts";
import { findCommand } from "../table/index.ts";

let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "abx-policy-"));
  await writeFile(join(project, "agentbox.toml"), "version = 1\n");
});
afterAll(() => rm(project, { recursive: true }));

/** Runs a command without a terminal against a client that answers only what it is given. */
async function run(line: string, answers: Partial<Record<keyof Client, unknown>>) {
  const [name = "", ...words] = line.split(" ");
  const command = findCommand(name)!;
  const args = parseArguments(command, words);
  const stdout = new PassThrough();
  const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() } as unknown as ScreenStreams;
  const calls: [string, ...unknown[]][] = [];
  const client = new Proxy({} as Client, {
    get: (_target, key: keyof Client | "then") =>
      key === "then"
        ? undefined
        : async (...given: unknown[]) => {
            calls.push([key, ...given]);
            const answer = answers[key];
            if (answer instanceof Error) throw answer;
            return answer;
          },
  });
  const context = {
    command,
    args,
    screen: new Screen(streams, { isJson: args.isSet("json"), noColor: true }),
    cwd: project,
    env: { userHome: "/nowhere" },
    connect: async () => client,
  } as unknown as CommandContext;
  const code = await (await command.load()).run(context);
  return { code, calls, stdout: (stdout.read() as Buffer | null)?.toString() ?? "" };
}

const policy = { default: "deny", isLearning: false, bounds: [], rules: [], exceptions: [] };
const shown = { policy, lines: [{ verdict: "deny", what: "everything else", rule: "default", where: "" }] };
const explanation = {
  verdict: "allow",
  host: "a.example",
  port: 443,
  sentence: "Yes.",
  howToChange: "No need.",
};

describe("policy", () => {
  it("shows, however the box is named", async () => {
    for (const line of ["policy show shop", "policy show --box shop", "policy show shop --json"]) {
      const { code, calls, stdout } = await run(line, { getPolicy: shown });
      expect({ code, calls }).toEqual({ code: 0, calls: [["getPolicy", "shop"]] });
      expect(stdout).toContain("everything else");
    }
  });

  it.each([
    ["allow", 0],
    ["deny", 5],
    ["ask", 5],
  ])("explains; %s is exit code %i", async (verdict, exit) => {
    const { code, calls, stdout } = await run("policy explain --box shop https://a.example/x -X post", {
      explainPolicy: { ...explanation, verdict },
    });
    expect(code).toBe(exit);
    expect(calls).toEqual([["explainPolicy", "shop", { url: "https://a.example/x", method: "POST" }]]);
    expect(stdout).toContain(`${verdict}: Yes.`);
  });

  it("prints what was learned as it is to be pasted, without control characters", async () => {
    const toml = '[network]\nallow = ["a.example"]\n# \u001b[2J\n';
    expect((await run("policy learn shop", { learnPolicy: { toml } })).stdout).toBe(
      '[network]\nallow = ["a.example"]\n# \\u{1b}[2J\n',
    );
    const { stdout } = await run("policy learn shop --json", { learnPolicy: { toml } });
    expect(JSON.parse(stdout)).toEqual({ toml });
  });

  it("applies the manifest of the box's project and what was typed", async () => {
    const { calls } = await run("policy apply shop --allow a.example --network ask", {
      getBox: { box: { projectDir: project } },
      changePolicy: shown,
    });
    expect(calls.at(-1)).toEqual([
      "changePolicy",
      "shop",
      {
        projectDir: project,
        flags: { network: { default: "ask", allow: ["a.example"] } },
        manifest: { file: join(project, "agentbox.toml"), text: "version = 1\n" },
      },
    ]);
  });

  it("does not agree to a manifest on anybody's behalf", async () => {
    const facts = { digest: "sha256:abc", requests: ["reach a.example"] };
    const refusal = new AgentBoxError("trust.required", "Somebody must agree.", { facts });
    const applying = run("policy apply shop", {
      getBox: { box: { projectDir: project } },
      changePolicy: refusal,
    });
    await expect(applying).rejects.toMatchObject({
      code: "trust.required",
      hint: "Read the list, then agree with: --trust sha256:abc",
    });
  });

  it("refuses what it does not know, and a manifest that is not there", async () => {
    await expect(run("policy shwo shop", {})).rejects.toMatchObject({
      code: "command.unknown",
      hint: "Did you mean: agentbox policy show",
    });
    const getBox = { box: { projectDir: project } };
    await expect(run("policy apply shop --manifest gone.toml", { getBox })).rejects.toMatchObject({
      code: "manifest.not_found",
    });
  });
});

describe("net", () => {
  it("asks for hosts, the newest denials and the newest uses of secrets", async () => {
    const net = { box: "shop", hosts: [], requests: 0, denials: 0, bytesOut: 0, bytesIn: 0 };
    const [own, earlier] = [{ incarnation: "b" }, { incarnation: "a" }];
    const { calls, stdout } = await run("net shop --json", {
      getNet: net,
      getBox: { box: { incarnation: "b" } },
      listEgress: [own, earlier],
      secretAudit: [earlier, own],
    });
    expect(calls).toContainEqual(["secretAudit", { box: "shop", limit: 10 }]);
    expect(calls).toContainEqual([
      "listEgress",
      { box: "shop", verdict: "deny", order: "newest", limit: 10 },
    ]);
    expect(JSON.parse(stdout)).toEqual({ ...net, lastDenials: [own], lastSecretUses: [own] });
  });
});

describe("approvals", () => {
  it("says when nothing waits", async () => {
    const nothing = { listApprovals: [], listMissedApprovals: [] };
    expect((await run("approvals", nothing)).stdout).toBe("Nothing waits for an answer.\n");
    expect(JSON.parse((await run("approvals ls --json", nothing)).stdout)).toEqual({
      approvals: [],
      missed: [],
    });
  });

  it.each([
    ["allow 7", { answer: "allow", scope: "once" }],
    ["allow 7 --scope box --for 2h", { answer: "allow", scope: "box", ttlMs: 7_200_000 }],
    ["allow 7 --scope project", { answer: "allow", scope: "project" }],
    ["deny 7", { answer: "deny", scope: "once" }],
  ])("%s", async (line, answer) => {
    const { calls } = await run(`approvals ${line}`, {
      listApprovals: [],
      listMissedApprovals: [],
      answerApproval: {},
    });
    expect(calls.at(-1)).toEqual(["answerApproval", 7, answer]);
  });

  it("lists what was missed, and answers it for exactly what was listed", async () => {
    const missed = {
      id: 7,
      askedAtMs: 0,
      missedAtMs: Date.now() - 5_000,
      times: 2,
      box: "shop",
      host: "api.example.org",
      port: 443,
      sentence: "Let the box shop reach api.example.org on port 443.\u001b[2J",
      digest: "sha256:7",
    };
    const answers = { listApprovals: [], listMissedApprovals: [missed], answerApproval: {} };
    const { stdout } = await run("approvals", answers);
    expect(stdout).toMatch(
      /Missed[^]*7 +shop +5s ago +2 +Let the box shop reach api\.example\.org on port 443\./,
    );
    expect(stdout).not.toContain("\u001b");
    const { calls, stdout: said } = await run("approvals allow 7 --scope box --for 2h", answers);
    expect(calls.at(-1)).toEqual([
      "answerApproval",
      7,
      { answer: "allow", scope: "box", ttlMs: 7_200_000, digest: "sha256:7" },
    ]);
    expect(said).toContain("allowed api.example.org:443 for box shop until");
  });

  it.each(["allow", "allow x", "allow 7 --for 2h", "deny 7 --scope box", "allow 7 --scope all"])(
    "refuses %s before anything is sent",
    async (line) => {
      await expect(run(`approvals ${line}`, {})).rejects.toMatchObject({ code: "input.invalid" });
    },
  );

  it("suggests the verb", async () => {
    await expect(run("approvals alow 7", {})).rejects.toMatchObject({
      hint: "Did you mean: agentbox approvals allow",
    });
  });
});
