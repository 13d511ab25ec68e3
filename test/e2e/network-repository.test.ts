/** A repository of the network in place of a directory: the box itself clones it, through the gate. */
import { expect, it } from "vitest";
import type { Review } from "../../src/contract/review/review.ts";
import { makeGitSite } from "../support/internet-sites.ts";
import { expectDenied, type NetworkGround, onNetwork, recordsOf, shell } from "../support/network-ground.ts";

const url = "https://git.test/repo.git";

const prepare = ({ network }: NetworkGround) => makeGitSite(network.directory);

onNetwork("a repository by its address", cases, { prepare });

function cases(ground: NetworkGround): void {
  it("is cloned in the box, worked on and reviewed", async () => {
    const { daemon } = ground;
    const made = await daemon.cli(["create", "shell", "--name", "from-url", "--repo", url, "--start"]);
    expect(made.code, made.stderr).toBe(0);
    expect((await shell(daemon, "from-url", "cat hello && echo mine > mine")).code).toBe(0);
    const review = await daemon.json<Review>(["diff", "from-url"]);
    expect(review.changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual(["added mine"]);
    expect(review.summary.hostsReached).toEqual(["git.test"]);
    const merged = await daemon.cli(["merge", "from-url"]);
    expect(merged.stderr).toContain("review.unavailable");
  }, 60_000);

  it("becomes a box of its own with all of its history, where only the work since then counts", async () => {
    const { daemon } = ground;
    const made = await daemon.cli(["create", "shell", "--name", "origin", "--repo", url, "--start"]);
    expect(made.code, made.stderr).toBe(0);
    const work =
      "echo mine > mine && git add -A && git -c user.name=a -c user.email=a@b commit -qm mine && echo loose > loose";
    expect((await shell(daemon, "origin", work)).code).toBe(0);
    expect((await daemon.cli(["checkpoints", "origin", "--fork", "forked"])).code).toBe(0);
    // No second download.
    expect((await daemon.cli(["start", "forked"])).code).toBe(0);
    const told = await shell(daemon, "forked", "git log --format=%s && git status --porcelain && cat hello");
    expect(told.stdout).toBe("mine\nHello\n?? loose\nhello from the internet\n");
    expect(await recordsOf(daemon, "forked")).toEqual([]);
    const review = await daemon.json<Review>(["diff", "forked"]);
    expect(review.changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual(["added loose", "added mine"]);
  }, 60_000);

  it("is not cloned from a host that the policy does not name, and nothing of the box stays", async () => {
    const { daemon } = ground;
    await expectDenied(daemon, "from-denied", { host: "git.test", reason: "no_rule" }, async () => {
      const made = daemon.client.createBox({ name: "from-denied", flags: { workspace: { url } } });
      await expect(made).rejects.toMatchObject({ code: "workspace.failed" });
    });
    expect((await daemon.client.listBoxes()).map(({ name }) => name)).not.toContain("from-denied");
  }, 60_000);

  it.each(["http://git.test/repo.git", "https://me:secret@git.test/x", "ext::sh -c id", "--upload-pack=id"])(
    "takes no other kind of address: %s",
    async (other) => {
      const made = ground.daemon.client.createBox({ flags: { workspace: { url: other } } });
      await expect(made).rejects.toMatchObject({
        code: expect.stringMatching(/^(input|manifest)\.invalid$/),
      });
    },
  );
}
