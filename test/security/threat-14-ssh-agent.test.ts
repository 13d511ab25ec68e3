/**
 * Threat 14: a control credential in the box, here a key by way of its agent. The box has signatures for the bound
 * servers and nothing else: not the key, not a signature for another server or for anything that is no sign-in, and no
 * say over the agent.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesWith } from "../support/agents.ts";
import { searchProcesses } from "../support/canary-search.ts";
import { boxedProcesses } from "../support/daemon.ts";
import { addresses } from "../support/network.ts";
import { shell } from "../support/network-ground.ts";
import { agentsOf, boxWithKey, cloneFrom, grantKey, onSsh, signaturesOf } from "../support/ssh-ground.ts";

/** A line from the middle of the key's file, and the secret number itself. */
function canariesOf(key: string): readonly [string, Buffer] {
  const lines = key.trim().split("\n").slice(1, -1);
  const bytes = Buffer.from(lines.join(""), "base64");
  // Seed and public key are the last string of 64 bytes; the public key is in the file twice before.
  const at = bytes.indexOf(Buffer.from([0, 0, 0, 64])) + 4;
  return [lines.at(-2) ?? expect.fail("the key has too few lines"), bytes.subarray(at, at + 32)];
}

onSsh("a key by way of its agent", (ground) => {
  it("signs in to the servers it is bound to, and to no other", async () => {
    const { daemon } = ground;
    const box = await boxWithKey(ground, "one-server", ["root@ssh.test"]);
    await grantKey(ground, box);
    // Known to the box, so that it gets as far as the signature.
    const trusting = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null";
    expect((await shell(daemon, box, cloneFrom(ground, "ssh.test"))).stdout).toContain("hello");
    const refused = await shell(daemon, box, cloneFrom(ground, "other.test", trusting));
    expect(refused.stderr).toContain("Permission denied");
    // Bound to the other one too, it opens that as well.
    const both = await boxWithKey(ground, "two-servers", ["root@ssh.test", "root@other.test"]);
    await grantKey(ground, both);
    for (const host of ["ssh.test", "other.test"])
      expect((await shell(daemon, both, cloneFrom(ground, host))).stdout).toContain("hello");
    // And with another user's name it does not.
    const stranger = await boxWithKey(ground, "other-user", ["git@ssh.test"]);
    await grantKey(ground, stranger);
    expect((await shell(daemon, stranger, cloneFrom(ground, "ssh.test"))).stderr).toContain(
      "Permission denied",
    );
    expect((await signaturesOf(ground, stranger, 1))[0]).toMatchObject({
      verdict: "deny",
      secret: "deploy",
      reason: expect.stringContaining("another user"),
    });
  });

  it("signs no file and no commit, and obeys nobody in the box", async () => {
    const { daemon } = ground;
    const box = "one-server";
    const before = (await signaturesOf(ground, box, 1)).length;
    const sign =
      "ssh-add -L > key.pub && echo text > file && ssh-keygen -Y sign -n git -f key.pub file && cat file.sig";
    const inDirectory = (script: string) => shell(daemon, box, `cd $(mktemp -d) && ${script}`);
    // The control: the same with an agent of the box's own.
    const own = await inDirectory(
      `ssh-keygen -q -t ed25519 -N '' -f own && ssh-agent sh -c 'ssh-add -q own && rm own && ${sign} && ssh-add -D && ! ssh-add -L'`,
    );
    expect(own.code, own.stderr).toBe(0);
    expect(own.stdout).toContain("BEGIN SSH SIGNATURE");
    const refused = await inDirectory(sign);
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).not.toContain("SIGNATURE");
    const records = await signaturesOf(ground, box, before + 1);
    expect(records.slice(before)).toMatchObject([
      { verdict: "deny", secret: "deploy", reason: expect.stringContaining("not a sign-in") },
    ]);
    for (const command of [
      "ssh-keygen -q -t ed25519 -N '' -f own && ssh-add -q own",
      "ssh-add -D",
      "ssh-add -L > key.pub && ssh-add -d key.pub",
      "printf 'lock\\nlock\\n' > words && SSH_ASKPASS_REQUIRE=force SSH_ASKPASS=/bin/echo ssh-add -x",
      "ssh-add -s /usr/lib/x86_64-linux-gnu/libc.so.6",
    ])
      expect((await inDirectory(command)).code, command).not.toBe(0);
    expect((await shell(daemon, box, "ssh-add -L")).stdout.trim().split("\n")).toHaveLength(1);
    expect((await shell(daemon, box, cloneFrom(ground, "ssh.test"))).stdout).toContain("hello");
  });

  it("is not in the box: not in its memory, environment and files, nor in a log or an event", async () => {
    const { daemon, server, keyFile } = ground;
    const box = "one-server";
    const [text, seed] = canariesOf(server.key);
    const visible = "canary-of-the-control";
    // A process that has used the key and lives on, and another that holds something to be found.
    await shell(
      daemon,
      box,
      `${cloneFrom(ground, "ssh.test")}; ssh -o BatchMode=yes -M -N -f -S /tmp/master root@ssh.test`,
    );
    await shell(
      daemon,
      box,
      `CONTROL=${visible} setsid sleep 600 > /dev/null 2>&1 & echo ${visible} > ~/found`,
    );
    // The control: what the other process has in its environment is found, as text and as bytes.
    for (const known of [`CONTROL=${visible}`, Buffer.from(visible)])
      expect(searchProcesses(daemon.home, known).found).not.toEqual([]);
    expect(searchProcesses(daemon.home, text, seed).found).toEqual([]);
    // The agents are no processes of a box.
    expect(await agentsOf(daemon)).not.toEqual([]);
    const boxed = boxedProcesses(daemon.home);
    expect((await agentsOf(daemon)).filter((pid) => boxed.includes(pid))).toEqual([]);

    const kept = join(daemon.home, "control");
    mkdirSync(kept);
    writeFileSync(join(kept, "file"), text);
    // The database, logs, boxes' disks and agents' directories; only the file that we put there has it.
    expect(await filesWith(daemon.home, text)).toEqual([join(kept, "file")]);
    expect(await filesWith(daemon.home, visible)).not.toEqual([]);
    expect(await filesWith(daemon.scratch, text)).toEqual([keyFile]);
    expect(daemon.log()).not.toContain(text);
    const { events } = await daemon.client.listEvents({ limit: 1_000 });
    expect(events.map(({ type }) => type)).toContain("secret.used");
    expect(JSON.stringify(events)).not.toContain(text);
  });
});

const throughForwarding = `ssh-add -L; ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null root@${addresses.web2} "git-upload-pack '/nowhere'" 2>&1`;

onSsh(
  "a key by way of a server that the agent is forwarded to",
  (ground) => {
    it("is neither listed nor used there", async () => {
      const { daemon, network, keyFile } = ground;
      const options = "-A -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null";
      // The control: an agent without limits, forwarded to the same server, opens the other one from there.
      const control = await network.onHost([
        "ssh-agent",
        "sh",
        "-c",
        `ssh-add -q ${keyFile} && ssh ${options} root@ssh.test`,
      ]);
      expect(control.stdout).toContain("ssh-ed25519");
      expect(control.stdout).toContain("/nowhere");
      expect(control.stdout).not.toContain("Permission denied");
      const box = await boxWithKey(ground, "forwarding", ["root@ssh.test", "root@other.test"]);
      await grantKey(ground, box);
      const refused = await shell(daemon, box, `ssh ${options} root@ssh.test`);
      expect(refused.stdout).toContain("Permission denied");
      expect(refused.stdout).not.toContain("ssh-ed25519");
      // The way in was signed, and it is the only signature.
      expect((await signaturesOf(ground, box, 1)).filter(({ verdict }) => verdict === "allow")).toHaveLength(
        1,
      );
    });
  },
  throughForwarding,
);
