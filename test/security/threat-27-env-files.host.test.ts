/**
 * Threat 27, files of variables: a repository names them, so a person agrees to exactly what goes in; values that look like
 * secrets stay outside without a yes of their own; and a .envrc runs in the box, as it was when a person agreed.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EventType } from "../../src/contract/events.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { runProgram } from "../support/program.ts";

describe("files of variables", () => {
  let daemon: TestDaemon;
  let dir: string;
  let count = 0;

  beforeAll(async () => {
    daemon = await startDaemon();
    dir = join(daemon.scratch, "project");
    mkdirSync(dir);
    writeFileSync(join(dir, ".gitignore"), ".env\n.envrc\n");
    for (const args of [
      ["init", "-q"],
      ["add", "-A"],
      ["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "one"],
    ])
      await runProgram(["git", "-C", dir, ...args]);
  });
  afterAll(() => daemon?.[Symbol.asyncDispose]());

  const write = (file: string, text: string): void => writeFileSync(join(dir, file), text);
  const manifest = (env: string): void => write("agentbox.toml", `version = 1\n[env]\n${env}\n`);
  const run = (command: string, ...flags: string[]) =>
    daemon.cli(["run", "shell", "--rm", ...flags, "--", "sh", "-c", command], { cwd: dir });
  const agree = async (): Promise<void> => {
    const file = join(dir, "agentbox.toml");
    const asked = { projectDir: dir, manifest: { file, text: readFileSync(file, "utf8") } };
    const { digest } = await daemon.client.askTrust(asked);
    await daemon.client.grantTrust({ ...asked, digest });
  };
  const events = async (type: EventType) => (await daemon.client.listEvents({ type, limit: 1_000 })).events;
  const create = (): Promise<unknown> => {
    count += 1;
    return daemon.json(["create", "shell", "--name", `env-${count}`], { cwd: dir });
  };

  it("go in after a yes to their names, and secrets among them stay outside without one of their own", async () => {
    write(".env", "PORT=3000\nSTRIPE_KEY=canary-5d1f\nHOME=/root\nAGENTBOX_HOME=/root\n");
    manifest('files = [".env"]');
    const refused = await run("true");
    expect(refused.stderr).toContain("put PORT of .env into the box");
    expect((await events("trust.refused")).at(-1)?.data["requests"]).toEqual([
      "put PORT of .env into the box",
    ]);
    await agree();
    const shown = await run('echo "$PORT|$STRIPE_KEY|$HOME|$AGENTBOX_HOME"');
    expect(shown, shown.stderr).toMatchObject({ code: 0, stdout: "3000||/home/agent|\n" });
    const { warnings } = (await create()) as { warnings: string[] };
    expect(warnings.join()).toContain(
      "STRIPE_KEY of .env looks like a secret and stays outside. Save it in the vault: agentbox vault set stripe-key --from-env-file .env:STRIPE_KEY",
    );
    // The offer is a command that does it, and the value is in no answer, event or record.
    const kept = await daemon.cli(["vault", "set", "stripe-key", "--from-env-file", ".env:STRIPE_KEY"], {
      cwd: dir,
    });
    expect(kept.code, kept.stderr).toBe(0);
    expect((await daemon.client.listSecrets()).map(({ secret }) => secret.name)).toContain("stripe-key");
    const all = JSON.stringify([
      (await daemon.client.listEvents({ limit: 1_000 })).events,
      await daemon.client.getBox(`env-${count}`),
      kept.stdout,
      shown.stderr,
    ]);
    expect(all).not.toContain("canary-5d1f");

    // Named, it asks for a yes that says so, and goes in.
    manifest('files = [{ path = ".env", clear = ["STRIPE_KEY"] }]');
    expect((await run("true")).stderr).toContain(
      "put PORT, STRIPE_KEY of .env into the box, with STRIPE_KEY, which looks like a secret",
    );
    await agree();
    expect((await run('echo "$STRIPE_KEY"')).stdout).toBe("canary-5d1f\n");
  });

  it("ask again when there is another variable, and are never taken from outside the project", async () => {
    manifest('files = [".env"]');
    write(".env", "PORT=3000\n");
    await agree();
    expect((await run('echo "$PORT"')).stdout).toBe("3000\n");
    write(".env", "PORT=3000\nREGION=eu\n");
    expect((await run("true")).stderr).toContain("put PORT, REGION of .env into the box");

    const outside = join(daemon.scratch, "outside.env");
    writeFileSync(outside, "STOLEN=yes\n");
    symlinkSync(outside, join(dir, "linked.env"));
    manifest('files = ["linked.env"]');
    const linked = await run('echo "[$STOLEN]"');
    expect(linked.stdout, linked.stderr).toBe("[]\n");
    for (const path of ["../outside.env", outside, "~/.env"]) {
      manifest(`files = [${JSON.stringify(path)}]`);
      expect((await run("true")).stderr, path).toContain("E074");
    }
  });

  it("a .envrc runs in the box once a person has agreed to what it says, and never on the host", async () => {
    const proof = join(daemon.scratch, "ran-on-host");
    const script = `touch ${proof} 2> /dev/null || true
export FROM_ENVRC="in $HOSTNAME"
PATH_add bin
export HTTP_PROXY=http://elsewhere:1
`;
    write(".envrc", script);
    manifest('files = [".envrc"]');
    const refused = await run("true", "--name", "envrc-box");
    expect(refused.stderr).toMatch(/run \.envrc in the box at each start, as it is now \(sha256:/);
    expect(existsSync(proof)).toBe(false);
    // Also where a person typed it: they agree to the text, and not to the name.
    manifest("");
    const typed = await run("true", "--set", 'env.files = [".envrc"]');
    expect(typed.stderr).toMatch(/run \.envrc in the box/);

    manifest('files = [".envrc"]');
    await agree();
    const made = await daemon.cli(["create", "shell", "--start", "--name", "envrc-box"], { cwd: dir });
    expect(made.code, made.stderr).toBe(0);
    const inBox = (command: string) => daemon.cli(["exec", "envrc-box", "--", "sh", "-c", command]);
    expect((await inBox('echo "$FROM_ENVRC|$PATH|$HTTP_PROXY"')).stdout).toMatch(
      /^in envrc-box\|\/workspace\/bin:.*\|(?!http:\/\/elsewhere)/,
    );
    expect(existsSync(proof)).toBe(false);
    expect((await events("env.loaded")).at(-1)).toMatchObject({
      box: "envrc-box",
      data: { path: ".envrc", variables: ["FROM_ENVRC", "PATH"] },
    });

    // The next start runs what was agreed to, whatever the box or the project has by now.
    await inBox("echo 'export FROM_ENVRC=changed' > .envrc");
    write(".envrc", `${script}export MORE=yes\n`);
    expect((await daemon.cli(["restart", "envrc-box"])).code).toBe(0);
    expect((await inBox('echo "$FROM_ENVRC|$MORE"')).stdout).toBe("in envrc-box|\n");
    const changed = await run("true");
    expect(changed.stderr).toMatch(/run \.envrc in the box/);

    write(".envrc", "echo no such thing >&2\nexit 3\n");
    await agree();
    const failed = await run("true");
    expect(failed.stderr).toContain(".envrc failed in the box: it ended with code 3: no such thing");
  });
});
