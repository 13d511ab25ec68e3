/**
 * Threat 36: what one box writes, another reads. The file in which a box holds a secret and the socket through which it has
 * keys are its own: written over in one box, they are as before in the next, and in the same box after a restart.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { agree } from "../support/network-ground.ts";
import { giveTo } from "../support/review.ts";
import { makeCanary, mustCli, setSecret } from "../support/vault-ground.ts";
import { shellInBox } from "./attack.ts";

const canary = makeCanary();
const digest = createHash("sha256").update(canary).digest("hex");
/** Not `ls`, which gVisor has no answer for. */
const names = "find /run/secrets -mindepth 1 -printf '%f\\n'";
const sum = "sha256sum < /run/secrets/token | cut -d' ' -f1";

describe("the secrets of two boxes of one project", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
    await setSecret(daemon, "token", canary);
    const project = mkdtempSync(join(daemon.scratch, "shared-"));
    const manifest = 'version = 1\n[secrets.token]\nhow = "file"\nfile = "/run/secrets/token"\n';
    writeFileSync(join(project, "agentbox.toml"), manifest);
    await giveTo(daemon, project);
    await agree(daemon, project);
    await mustCli(daemon, ["vault", "grant", "token", "--project", "."], { cwd: project });
    for (const name of ["first", "second"])
      await mustCli(daemon, ["create", "shell", "--name", name, "--start"], { cwd: project });
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const sumIn = async (box: string): Promise<string> => (await shellInBox(daemon, box, sum)).stdout.trim();

  it("are apart: what one writes over is as before in the other, and in itself after a restart", async () => {
    expect([await sumIn("first"), await sumIn("second")]).toEqual([digest, digest]);
    const spoiled = await shellInBox(
      daemon,
      "first",
      "chmod u+w /run/secrets/token; echo spoiled > /run/secrets/token; echo planted > /run/secrets/planted; cat /run/secrets/token",
    );
    // The control: the box may do so to its own.
    expect(spoiled.stdout).toBe("spoiled\n");
    expect(await sumIn("second")).toBe(digest);
    expect((await shellInBox(daemon, "second", names)).stdout).toBe("token\n");
    await mustCli(daemon, ["restart", "first"]);
    expect(await sumIn("first")).toBe(digest);
    expect((await shellInBox(daemon, "first", names)).stdout).toBe("token\n");
  });
});
