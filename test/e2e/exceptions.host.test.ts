/** A manifest's exceptions from the baseline: agreed to, there, shown, and refused where they cannot be had. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { codeOf, makeProject, runIn } from "../support/review.ts";

const scratch = `version = 1
[runtime]
name = "bubblewrap"
[security.exceptions.fast]
reason = "speeds up the build"
tmpfs = { "/scratch" = "1MiB" }
`;

describe("exceptions from the baseline", () => {
  let daemon: TestDaemon;
  let dir: string;
  beforeAll(async () => {
    daemon = await startDaemon();
    ({ dir } = await makeProject(daemon, { "README.md": "# Shop\n" }));
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const create = async (manifest: string, ...args: string[]) => {
    await writeFile(join(dir, "agentbox.toml"), manifest);
    return daemon.cli(["create", "--json", ...args], { cwd: dir });
  };

  it("are in the box once a person has agreed, with their bound, and inspect shows them", async () => {
    const asked = await create(scratch, "--name", "fast", "--start");
    expect(codeOf(asked)).toBe("trust.required");
    expect(asked.stderr).toContain(
      "keep /scratch in memory, up to 1 MiB (fast, reason: speeds up the build)",
    );
    const digest = /sha256:[0-9a-f]{64}/.exec(asked.stderr)![0];
    const made = await create(scratch, "--name", "fast", "--start", "--trust", digest);
    expect(made.code, made.stderr).toBe(0);
    const small = await runIn(daemon, "fast", "head -c 500000 /dev/zero > /scratch/a && echo fits");
    expect(small.stdout).toContain("fits");
    const large = await runIn(daemon, "fast", "head -c 2000000 /dev/zero > /scratch/b && echo fits");
    expect(large.stdout).not.toContain("fits");
    const shown = await daemon.cli(["inspect", "fast"]);
    expect(shown.stdout).toMatch(
      /Exceptions\n +fast +may keep \/scratch in memory, up to 1 MiB +speeds up the build/,
    );
  });

  it("that open the box or that the runtime cannot do are refused, and nothing is made", async () => {
    const device = scratch.replace(/tmpfs.*/, 'devices = ["/dev/kvm"]');
    for (const manifest of [
      `${scratch}privileged = true\n`,
      device,
      device.replace("kvm", "sda"),
      scratch.replace("/scratch", "/workspace"),
      scratch.replace(/tmpfs.*/, 'capabilities = ["SYS_ADMIN"]'),
    ]) {
      const refused = await create(manifest, "--name", "other");
      expect({ code: codeOf(refused), exit: refused.code }, manifest).toEqual({
        code: "manifest.invalid",
        exit: 1,
      });
    }
    const typed = await create(
      device.replace('name = "bubblewrap"', ""),
      "--name",
      "other",
      "--runtime",
      "bubblewrap",
    );
    const digest = /sha256:[0-9a-f]{64}/.exec(typed.stderr)![0];
    const flags = ["--name", "other", "--runtime", "bubblewrap", "--trust", digest];
    expect(codeOf(await create(device.replace('name = "bubblewrap"', ""), ...flags))).toBe(
      "runtime.unsupported",
    );
    expect((await daemon.cli(["ls", "--json"])).stdout).not.toContain('"other"');
  });

  it("a tier is had or refused, and what has no image is not exported", async () => {
    const plain = "version = 1\n";
    const weaker = ["--name", "tier", "--runtime", "bubblewrap"];
    const asked = `${plain}[runtime]\ntier = "container"\n`;
    expect(codeOf(await create(asked, ...weaker))).toBe("policy.unenforceable");
    const fits = ["--name", "tier", "--runtime", "bubblewrap", "--tier", "namespaces"];
    expect((await create(plain, ...fits)).code).toBe(0);
    for (const command of ["compose", "run-locally"])
      expect(codeOf(await daemon.cli([command, "tier", "--json"]))).toBe("runtime.unsupported");
  });
});
