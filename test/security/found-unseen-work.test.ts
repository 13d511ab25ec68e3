/**
 * A person looks at work, the agent goes on, and the person merges: unseen work must not land. The command line is
 * bound to the state that it last showed to this person, as the dashboard is.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { codeOf, makeProject, reviewOf, runIn, stateOf, worked, working } from "../support/review.ts";
import { ask, signIn } from "../support/web-client.ts";
import { type Ground, eventsOf, onOneDaemon } from "./attack.ts";

const cases = (ground: Ground): void => {
  const cli = (...args: string[]) => ground.daemon.cli(args);
  const refusals = async (box: string) =>
    (await eventsOf(ground.daemon, "work.refused", box)).map(({ data }) => data);

  it("what came after the look is refused by merge, push and pr, and lands once it was shown", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    await working(daemon, project, "late", "echo harmless > a.txt");
    const before = await stateOf(project);
    const shown = await cli("diff", "late");
    expect(shown.stdout).toContain("+harmless");
    const { digest } = await reviewOf(daemon, "late");
    await runIn(daemon, "late", "echo harmful > a.txt");
    for (const args of [
      ["merge"],
      ["merge", "--mode", "commits"],
      ["merge", "--mode", "patch"],
      ["merge", "--json"],
    ]) {
      const refused = await cli(args[0]!, "late", ...args.slice(1));
      expect({ code: refused.code, said: codeOf(refused) }, args.join(" ")).toEqual({
        code: 5,
        said: "merge.danger",
      });
      expect(refused.stderr + refused.stdout).toContain("changed since it was looked at");
    }
    expect(await stateOf(project)).toEqual(before);
    expect((await refusals("late"))[0]).toMatchObject({
      command: "merge",
      code: "merge.danger",
      who: "owner",
      seen: digest,
    });
    await project.git("remote", "add", "origin", "https://example.test/shop.git");
    for (const command of ["push", "pr"])
      expect(codeOf(await cli(command, "late")), command).toBe("merge.danger");

    // A part of the new state is no look at all of it; the part that follows on the last look is.
    for (const part of [
      ["diff", "late", "README.md"],
      ["diff", "late", "--to", "1"],
      ["diff", "late", "--json"],
    ])
      expect((await cli(...part)).code, part.join(" ")).toBe(0);
    expect(codeOf(await cli("merge", "late"))).toBe("merge.danger");
    expect((await cli("diff", "late", "--from", "1")).stdout).toContain("+harmful");
    const merged = await cli("merge", "late");
    expect(merged.code, merged.stderr).toBe(0);
    expect(project.read("a.txt")).toBe("harmful\n");

    // Landing is no look at what comes next.
    await runIn(daemon, "late", "echo next > next.txt");
    expect(codeOf(await cli("merge", "late"))).toBe("merge.danger");
    expect(existsSync(join(project.dir, "next.txt"))).toBe(false);
  }, 120_000);

  it("without a look it is refused, and a program names the state that it has read", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    await worked(daemon, project, "unseen", "echo a > a.txt");
    const before = await stateOf(project);
    const refused = await cli("merge", "unseen", "--json");
    expect({ code: refused.code, said: codeOf(refused) }).toEqual({ code: 5, said: "merge.unseen" });
    const { digest } = await reviewOf(daemon, "unseen");
    expect(refused.stdout + refused.stderr).toContain(digest);
    expect((await refusals("unseen"))[0]).toMatchObject({ code: "merge.unseen", who: "owner" });
    const parallel = await cli("diff", "unseen", "--from", "latest");
    expect(parallel.code, parallel.stderr).toBe(0);
    expect(codeOf(await cli("merge", "unseen"))).toBe("merge.unseen");
    expect(codeOf(await cli("merge", "unseen", "--digest", "0".repeat(40)))).toBe("merge.danger");
    expect(await stateOf(project)).toEqual(before);
    const merged = await cli("merge", "unseen", "--digest", digest);
    expect(merged.code, merged.stderr).toBe(0);

    await worked(daemon, project, "blind", "echo b > b.txt");
    expect((await cli("merge", "blind", "--unseen")).code).toBe(0);
    expect(project.read("b.txt")).toBe("b\n");
  }, 120_000);

  it("one caller's look is not another's, outlives the daemon, and ends with the box", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    await worked(daemon, project, "shared", "echo a > a.txt");
    expect((await cli("diff", "shared", "--stat")).code).toBe(0);
    const { value } = await daemon.client.createToken({ name: "ci", scopes: ["read", "review"] });
    const { port } = await signIn(daemon);
    const merge = (body: object) =>
      ask({
        port,
        method: "POST",
        path: "/v1/boxes/shared/merge",
        headers: { authorization: `Bearer ${value}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await merge({})).code).toBe("merge.unseen");
    expect((await refusals("shared"))[0]?.["who"]).toMatch(/^token:/);
    expect(existsSync(join(project.dir, "a.txt"))).toBe(false);

    await daemon.kill();
    await daemon.start();
    const merged = await cli("merge", "shared");
    expect(merged.code, merged.stderr).toBe(0);

    // The next box of the name has not been shown.
    expect((await cli("rm", "--force", "shared")).code).toBe(0);
    await worked(daemon, project, "shared", "echo second > second.txt");
    expect(codeOf(await cli("merge", "shared"))).toBe("merge.unseen");
  }, 120_000);
};

onOneDaemon("work that was not shown", cases);
