import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { systemClock } from "../../src/host/clock.ts";
import { openVault } from "../../src/services/vault/index.ts";
import { hasProgram } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { itUnless } from "../support/skipping.ts";

const missing = ["secret-tool", "gnome-keyring-daemon", "dbus-run-session"].filter(
  (name) => !hasProgram(name),
);
const reason = missing.length > 0 ? `${missing.join(", ")} is not installed` : undefined;

let root: string;
let session: ChildProcess | undefined;
let env: Record<string, string | undefined>;

/** A session bus with an unlocked keyring, for as long as its stdin is open. */
async function startSession(): Promise<void> {
  env = { PATH: process.env["PATH"], HOME: root, XDG_RUNTIME_DIR: root };
  const script =
    'printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null; echo "$DBUS_SESSION_BUS_ADDRESS"; cat';
  session = spawn("dbus-run-session", ["--", "sh", "-c", script], { env, stdio: ["pipe", "pipe", "ignore"] });
  const [address] = (await once(createInterface({ input: session.stdout! }), "line")) as [string];
  env = { ...env, DBUS_SESSION_BUS_ADDRESS: address };
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "abx-keyring-"));
  if (reason === undefined) await startSession();
});
afterAll(async () => {
  if (session) {
    session.stdin!.end();
    if (session.exitCode === null) await once(session, "exit");
  }
  await rm(root, { recursive: true, force: true });
});

describe("a vault whose key is in the keyring of the desktop", () => {
  itUnless(reason)("opens in the session, not outside of it, and leaves no key in a file", async () => {
    const dir = join(root, "vault");
    const open = (variables = env) => openVault({ dir, clock: systemClock, env: variables });
    const vault = open();
    const stored = { kind: "text", source: { kind: "stored" } } as const;
    await vault.add({ ...stored, name: "token", value: Buffer.from("canary-4711") });
    await vault.rekey({ to: "keyring" });
    expect((await readdir(dir)).filter((name) => name.endsWith(".key"))).toEqual([]);
    expect((await open().reveal("token")).bytes.toString()).toBe("canary-4711");
    expect(await open().status()).toEqual({ master: "keyring", isLocked: false, secrets: 1 });

    const { DBUS_SESSION_BUS_ADDRESS: _, ...outside } = env;
    await expect(open(outside).reveal("token")).rejects.toMatchObject({ code: "vault.failed" });

    const search = ["secret-tool", "search", "--all", "service", "agentbox-vault"];
    const keys = async () => ((await runProgram(search, { env })).stdout.match(/^label/gm) ?? []).length;
    expect(await keys()).toBe(1);
    await vault.rekey({ to: "keyring" });
    expect(await keys()).toBe(1);
    expect((await open().reveal("token")).bytes.toString()).toBe("canary-4711");
    await vault.rekey({ to: "keyfile" });
    expect(await keys()).toBe(0);
    expect((await open(outside).reveal("token")).bytes.toString()).toBe("canary-4711");
  });
});
