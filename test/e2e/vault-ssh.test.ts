/** A key that stays on the host: git and ssh in a box use it by a grant, and every signature is on record. */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { shell } from "../support/network-ground.ts";
import { agentsOf, boxWithKey, cloneFrom, grantKey, onSsh, signaturesOf } from "../support/ssh-ground.ts";

onSsh("a key of the host", (ground) => {
  const question = (box: string) =>
    waitFor(`the box ${box} asks for the key`, async () =>
      (await ground.daemon.client.listApprovals()).find((one) => one.box === box && one.secret === "deploy"),
    );

  it("clones over ssh in a box that it was granted to, with no set-up, and leaves a receipt", async () => {
    const { daemon } = ground;
    const box = await boxWithKey(ground, "granted", ["root@ssh.test"]);
    await grantKey(ground, box);
    const cloned = await shell(daemon, box, cloneFrom(ground, "ssh.test"));
    expect(cloned.stdout, cloned.stderr).toBe("hello from the internet\n");
    expect(await signaturesOf(ground, box, 1)).toMatchObject([
      { host: "ssh.test", port: 22, verdict: "allow", secret: "deploy", isInjected: true },
    ]);
    expect((await shell(daemon, box, "ssh-add -L")).stdout).toMatch(/^ssh-ed25519 \S+ deploy\n$/);
    expect((await daemon.cli(["net", box])).stdout).toContain("ssh.test");
    expect((await daemon.cli(["vault", "audit", "deploy"])).stdout).toContain("ssh.test");
  });

  it("asks a person the first time, and a no is a refusal on record", async () => {
    const { daemon } = ground;
    const box = await boxWithKey(ground, "asking", ["root@ssh.test"]);
    const refused = shell(daemon, box, cloneFrom(ground, "ssh.test"));
    const asked = await question(box);
    expect(asked.sentence).toContain("ssh.test");
    await daemon.client.answerApproval(asked.id, { answer: "deny" });
    expect((await refused).code).not.toBe(0);
    expect(await signaturesOf(ground, box, 1)).toMatchObject([
      { host: "ssh.test", verdict: "deny", secret: "deploy", isInjected: false },
    ]);
    await grantKey(ground, box);
    expect((await shell(daemon, box, cloneFrom(ground, "ssh.test"))).stdout).toContain("hello");
  });

  it("is taken back for the next signature, in a running box", async () => {
    const { daemon } = ground;
    const box = await boxWithKey(ground, "revoked", ["root@ssh.test"]);
    await grantKey(ground, box);
    expect((await shell(daemon, box, cloneFrom(ground, "ssh.test"))).stdout).toContain("hello");
    expect((await daemon.cli(["vault", "revoke", "deploy", "--box", box])).code).toBe(0);
    const again = shell(daemon, box, cloneFrom(ground, "ssh.test"));
    await daemon.client.answerApproval((await question(box)).id, { answer: "deny" });
    expect((await again).stdout).not.toContain("hello");
  });

  it("asks for each signature where the project wants that", async () => {
    const { daemon } = ground;
    const box = await boxWithKey(ground, "confirmed", ["root@ssh.test"], "confirm = true");
    await grantKey(ground, box);
    for (const answer of ["allow", "deny", "allow"] as const) {
      const cloned = shell(daemon, box, cloneFrom(ground, "ssh.test"));
      const asked = await question(box);
      expect(asked.sentence).toMatch(/once/);
      await daemon.client.answerApproval(asked.id, {
        answer,
        ...(answer === "allow" ? { scope: "once" } : {}),
      });
      const { stdout } = await cloned;
      if (answer === "allow") expect(stdout).toContain("hello");
      else expect(stdout).not.toContain("hello");
    }
  });

  it("works in a box that outlived its daemon, and no agent outlives a daemon that was killed", async () => {
    const { daemon } = ground;
    const box = await boxWithKey(ground, "outliving", ["root@ssh.test"]);
    await grantKey(ground, box);
    expect((await shell(daemon, box, cloneFrom(ground, "ssh.test"))).stdout).toContain("hello");
    expect(await agentsOf(daemon)).not.toEqual([]);
    await daemon.kill();
    await waitFor("the agents have ended", async () => (await agentsOf(daemon)).length === 0);
    await daemon.start();
    await waitFor("the box is adopted", async () => (await daemon.client.getBox(box)).isConnected, 45_000);
    const cloned = await shell(daemon, box, cloneFrom(ground, "ssh.test"));
    expect(cloned.stdout, cloned.stderr).toBe("hello from the internet\n");
  });
});
