import { spawn } from "node:child_process";
import { chmod, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeTree } from "../../../host/files.ts";
import { type BubblewrapHost, systemHost } from "./bubblewrap-host.ts";
import { probeBubblewrap } from "./probe.ts";

let directory: string;
let refusing: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "agentbox-probe-test-"));
  await chmod(directory, 0o755);
  refusing = join(directory, "bwrap");
  // Answers like bubblewrap on a host that forbids user namespaces.
  const text =
    '#!/bin/sh\n[ "$1" = --version ] && echo "bubblewrap 0.9.1" && exit 0\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n';
  await writeFile(refusing, text, { mode: 0o755 });
});
afterAll(() => removeTree(directory));

const host = (overrides: Partial<BubblewrapHost> = {}): BubblewrapHost => ({
  ...systemHost(),
  spawn,
  findProgram: (name) => (name === "bwrap" ? refusing : systemHost().findProgram(name)),
  readSwitch: async () => undefined,
  ...overrides,
});

describe("probe", () => {
  it("says absent, and which package helps, without bwrap", async () => {
    expect(await probeBubblewrap(host({ findProgram: () => undefined }))).toMatchObject({
      status: "absent",
      fix: { packages: ["bubblewrap"] },
    });
  });

  it.each([
    ["kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"],
    ["user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"],
    [
      "kernel/apparmor_restrict_unprivileged_userns",
      "1",
      "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ],
  ])("names %s when it forbids user namespaces", async (name, value, fix) => {
    const probe = await probeBubblewrap(
      host({ readSwitch: async (asked) => (asked === name ? value : undefined) }),
    );
    expect(probe).toMatchObject({ status: "broken", fix: { hint: `Run as root: ${fix}` } });
  });

  it("passes on what bubblewrap says when no switch explains it", async () => {
    expect(await probeBubblewrap(host())).toMatchObject({
      status: "broken",
      reason: expect.stringContaining("uid map"),
    });
  });

  it("says broken on a processor without a filter", async () => {
    expect(await probeBubblewrap(host({ architecture: "mips" }))).toMatchObject({ status: "broken" });
  });
});
