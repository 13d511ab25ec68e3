import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Client } from "../../client/index.ts";
import type { ConnectionPreset, ConnectionState } from "../../contract/secret/connection.ts";
import { parseArguments } from "../line/arguments.ts";
import type { CommandContext } from "../command.ts";
import { Screen, type ScreenStreams } from "../render/screen.ts";
import { findCommand } from "../table/index.ts";
import { run as runConnect } from "./connect.ts";

const preset: ConnectionPreset = {
  name: "forge",
  title: "A forge",
  authorizationEndpoint: "https://forge.example/auth",
  tokenEndpoint: "https://forge.example/token",
  scopes: ["https://forge.example/scopes/code.write"],
  parameters: {},
  registration: "Register at https://forge.example/apps.",
  hosts: ["forge.example"],
  can: ["push branches"],
  cannot: ["delete repositories"],
};
const waiting: ConnectionState = {
  id: "c1",
  secret: "shop",
  state: "waiting",
  url: "https://forge.example/auth?state=x\u001b[2J",
  userCode: "ABCD",
  expiresAtMs: 0,
};

/** Without a terminal, so no browser is opened. */
async function connect(line: string, end: Partial<ConnectionState> = { state: "connected" }) {
  const args = parseArguments(findCommand("connect")!, line.split(" "));
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const started: unknown[] = [];
  const client = {
    listConnectionPresets: async () => [preset],
    startConnection: async (spec: unknown) => {
      started.push(spec);
      return waiting;
    },
    getConnection: async () => ({ ...waiting, ...end }),
  } as unknown as Client;
  const code = await runConnect({
    args,
    screen: new Screen(streams as unknown as ScreenStreams, { isJson: args.isSet("json"), noColor: true }),
    connect: async () => client,
  } as unknown as CommandContext);
  const text = (stream: PassThrough) => (stream.read() as Buffer | null)?.toString() ?? "";
  return { code, started, stdout: text(streams.stdout), stderr: text(streams.stderr) };
}

describe("connect", () => {
  it("shows where to go, waits, and says what an agent can and cannot do", async () => {
    const { code, started, stdout, stderr } = await connect(
      "shop --preset forge --client-id abc --scope a --scope b --client-secret-from app --device",
    );
    expect(code).toBe(0);
    expect(started).toMatchObject([
      {
        secret: "shop",
        preset: "forge",
        clientId: "abc",
        clientSecret: "app",
        scopes: ["a", "b"],
        flow: "device",
      },
    ]);
    expect(stderr).toContain("Open https://forge.example/auth?state=x\\u{1b}[2J\n");
    expect(stderr).toContain("and type ABCD");
    expect(stdout).toContain("can     push branches");
    expect(stdout).toContain("cannot  delete repositories");
  });

  it("fails with the reason the sign-in failed for", async () => {
    await expect(
      connect("shop --preset forge", { state: "failed", message: "The person said no." }),
    ).rejects.toMatchObject({ code: "connection.failed", message: "The person said no." });
  });

  it("gives programs the state, and people the address all the same", async () => {
    const { stdout, stderr } = await connect("shop --preset forge --json");
    expect(JSON.parse(stdout)).toMatchObject({ connection: { id: "c1", state: "connected" } });
    expect(stderr).toContain("https://forge.example/auth");
  });

  it("lists what is known", async () => {
    const { stdout, started } = await connect("--list");
    expect(stdout).toMatch(/^PRESET +SERVICE +HOSTS +SCOPES\nforge +A forge +forge\.example +code\.write\n/);
    expect(stdout).toContain("Register at https://forge.example/apps.");
    expect(started).toEqual([]);
  });

  it("needs a name", async () => {
    await expect(connect("--preset forge")).rejects.toMatchObject({ code: "input.invalid" });
  });
});
