/**
 * Threat 33: flaws of the parts below a box. `doctor` compares versions and says where it cannot tell; and what such
 * flaws are reached through (AF_ALG, user namespaces, bpf, keys) is refused in a box of every runtime.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EscapeReport } from "../../src/contract/api/schemas/daemon.ts";
import { findEscapes, type Installed } from "../../src/core/host-check/known-escapes.ts";
import { callRules } from "../../src/drivers/runtime/forbidden-calls.ts";
import { seccompProfile } from "../../src/drivers/runtime/engine/seccomp-profile.ts";
import { examineCalls } from "../../src/main/call-filters.ts";
import { kernel, versionIn } from "../../src/main/installed-versions.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { engineUnavailable, gvisorUnavailable, rootlessUser, startEngine } from "../support/engines.ts";
import { asUserArgv, isRoot, ordinaryUser, whyNoBubblewrap } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { itUnless } from "../support/skipping.ts";
import { testRuntime } from "../support/test-runtime.ts";
import { compile, compilerMissing, emptyBox, inBox } from "./attack.ts";

const of2025 = ["CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881"];
const debian = (name: string, version: string) => ({ package: { name, version } });
/** Advisory to verdict; what is mended is not there. */
const verdicts = (installed: Installed): Record<string, string> =>
  Object.fromEntries(findEscapes([installed]).map(({ advisory, verdict }) => [advisory, verdict]));
const all = (verdict: string, ...ids: string[]) => Object.fromEntries(ids.map((id) => [id, verdict]));

describe("versions with a known way out", () => {
  it.each<[string, string, Record<string, string>]>([
    ["runc", "1.2.7", all("affected", ...of2025)],
    ["runc", "1.2.8", {}],
    ["runc", "1.2.9", {}],
    ["runc", "1.3.0", all("affected", ...of2025)],
    ["runc", "1.3.2", all("affected", ...of2025)],
    ["runc", "1.3.3", {}],
    ["runc", "1.3.10", {}],
    ["runc", "1.4.0-rc.2", all("affected", ...of2025)],
    ["runc", "1.4.0-rc.3", {}],
    ["runc", "1.4.0-rc.10", {}],
    ["runc", "1.4.0", {}],
    ["runc", "1.5.0-rc.1", {}],
    ["runc", "2.0.0", {}],
    ["runc", "1.1.15", all("affected", ...of2025)],
    ["runc", "1.1.11", all("affected", ...of2025, "CVE-2024-21626")],
    ["runc", "1.0.0-rc92", all("affected", ...of2025)],
    ["runc", "1.0.0-rc93", all("affected", ...of2025, "CVE-2024-21626")],
    ["containerd", "1.6.0", all("affected", "CVE-2022-23648")],
    ["containerd", "1.5.10", {}],
    ["containerd", "1.7.24", {}],
    ["docker", "20.10.24", all("affected", "CVE-2024-23653")],
    ["docker", "24.0.9", {}],
    ["docker", "25.0.1", all("affected", "CVE-2024-23653")],
    ["docker", "28.0.4", {}],
    ["podman", "4.3.1", all("affected", "CVE-2024-1753")],
    ["podman", "4.9.4", {}],
    ["podman", "5.0.0", all("affected", "CVE-2024-1753")],
    ["podman", "5.6.1", {}],
    ["kernel", "5.7.19", {}],
    ["kernel", "5.10.101", all("affected", "CVE-2022-0847")],
    ["kernel", "5.10.102", {}],
    ["kernel", "5.16.10", all("affected", "CVE-2022-0847")],
    ["kernel", "6.18.0", {}],
    ["gvisor", "0.0~20221219.0", {}],
    // An unknown number: the answer says that nothing is known.
    ["runc", "unknown", all("unknown", ...of2025, "CVE-2024-21626")],
    // A vendor's build without a package that could say more.
    ["runc", "1.1.12-0ubuntu3", all("unknown", ...of2025)],
    ["kernel", "5.10.0-28-amd64", all("unknown", "CVE-2022-0847")],
    ["kernel", "5.15.0-91-generic", all("unknown", "CVE-2022-0847")],
    ["kernel", "6.8.0-45-generic", {}],
  ])("%s %s", (component, version, expected) => {
    expect(verdicts({ component, version })).toEqual(expected);
  });

  it("does not cry wolf over a package that may have the fix under an old number", () => {
    const runc = { component: "runc", version: "1.1.5+ds1", ...debian("runc", "1.1.5+ds1-1+deb12u2") };
    expect(verdicts(runc)).toEqual(all("unknown", ...of2025, "CVE-2024-21626"));
    // Its own list of changes settles it, one by one.
    expect(verdicts({ ...runc, mended: ["CVE-2024-21626", "CVE-2025-31133"] })).toEqual(
      all("unknown", "CVE-2025-52565", "CVE-2025-52881"),
    );
    expect(verdicts({ ...runc, mended: [...of2025, "CVE-2024-21626"] })).toEqual({});
    // A package of a version that was mended from the beginning needs no list.
    expect(verdicts({ component: "runc", version: "1.3.3+ds1", ...debian("runc", "1.3.3+ds1-1") })).toEqual(
      {},
    );
    // Nor over one that says a plain number of itself.
    const podman = { component: "podman", version: "4.3.1", ...debian("podman", "4.3.1+ds1-8+deb12u1") };
    expect(verdicts(podman)).toEqual(all("unknown", "CVE-2024-1753"));
    const [said] = findEscapes([runc]);
    expect(said).toMatchObject({ hint: expect.stringContaining("apt-get changelog runc") });
    expect(said!.detail).toContain("1.1.5+ds1-1+deb12u2");
  });

  it("reads the versions that programs and kernels say", () => {
    expect(versionIn("runc version 1.1.5+ds1\ncommit: 1.2.3\n")).toBe("1.1.5+ds1");
    expect(versionIn("containerd github.com/containerd/containerd v1.7.24 88bf19b2")).toBe("1.7.24");
    expect(versionIn("Docker version 20.10.24+dfsg1, build 297e128")).toBe("20.10.24+dfsg1");
    expect(versionIn("podman version 4.3.1")).toBe("4.3.1");
    expect(versionIn("runsc version release-20250101.0")).toBeUndefined();
    const stale = kernel("5.10.0-11-amd64", "#1 SMP Debian 5.10.92-1 (2022-01-18)");
    expect(verdicts(stale)).toEqual(all("affected", "CVE-2022-0847"));
    expect(verdicts(kernel("5.10.0-28-amd64", "#1 SMP Debian 5.10.209-2 (2024-01-31)"))).toEqual({});
  });
});

describe("what no version is asked about, because boxes are refused the call", () => {
  it("is found in the filters themselves", () => {
    expect(examineCalls()).toMatchObject([{ advisory: "CVE-2026-31431", verdict: "closed" }]);
    // The control: filters that let the call through are not called closed.
    const open = { syscall: "socket", when: [{ arg: 0, is: 38 }], action: { kind: "allow" } } as const;
    expect(examineCalls([open, ...callRules])).toMatchObject([
      { verdict: "unknown", hint: expect.stringContaining("gvisor") },
    ]);
    const profile = seccompProfile("x64")!;
    const any = { names: ["socket"], action: "SCMP_ACT_ALLOW" } as const;
    const [said] = examineCalls(callRules, { ...profile, syscalls: [...profile.syscalls, any] });
    expect(said).toMatchObject({ verdict: "unknown", detail: expect.stringContaining("docker") });
  });
});

const candidates = [
  { kind: "bubblewrap", runtime: "bubblewrap", engine: undefined, why: await whyNoBubblewrap() },
  { kind: "docker", runtime: "docker", engine: "docker", why: engineUnavailable("docker") },
  {
    kind: "podman",
    runtime: "docker",
    engine: "podman-rootless",
    why: engineUnavailable("podman-rootless"),
  },
  { kind: "gvisor", runtime: "gvisor", engine: "docker", why: gvisorUnavailable() },
] as const;
const asked = process.env["AGENTBOX_TEST_RUNTIME"];
/** The suites that put every box into one runtime look at that one. */
const looked = candidates.filter(({ kind }) => testRuntime === undefined || kind === asked);

describe.each(looked)("in a box of $kind", ({ runtime, engine, why }) => {
  let daemon: TestDaemon | undefined;
  beforeAll(async () => {
    if (why !== undefined) return;
    const user = engine === "podman-rootless" ? { user: rootlessUser } : {};
    const env =
      engine === undefined ? {} : { AGENTBOX_ENGINE: `unix://${(await startEngine(engine)).socket}` };
    daemon = await startDaemon({ ...user, env });
    await emptyBox(daemon, "probed", { runtime: { name: runtime } });
  }, 120_000);
  afterAll(() => daemon?.[Symbol.asyncDispose](), 60_000);

  itUnless(why ?? compilerMissing())(
    "the calls that such flaws are reached through are refused",
    async () => {
      const program = await compile(join(import.meta.dirname, "calls.c"));
      // SECURITY: the control runs as an ordinary user, so that it cannot change the host.
      const prefix = isRoot ? asUserArgv(ordinaryUser) : [];
      const outside = JSON.parse((await runProgram([...prefix, program])).stdout) as Record<string, number>;
      expect(outside).toMatchObject({ fork: 0, unshare_user: 0, clone_user: 0, keyctl: 0, add_key: 0 });
      // A kernel that has the family gives it to every user.
      if (readFileSync("/proc/net/protocols", "utf8").includes("ALG ")) expect(outside["af_alg"]).toBe(0);
      expect((await daemon!.cli(["cp", program, "probed:/workspace/calls"])).code).toBe(0);
      const { stdout } = await inBox(daemon!, "probed", ["/workspace/calls"]);
      const inside = JSON.parse(stdout) as Record<string, number>;
      expect(inside["fork"]).toBe(0);
      for (const call of ["af_alg", "bpf"]) expect(inside[call], call).not.toBe(0);
      const { guarantees } = (await daemon!.client.getBox("probed")).box.isolation;
      const ownKernel = guarantees.find(({ name }) => name === "own kernel");
      if (ownKernel?.isEnforced) {
        // Namespaces and keys are those of the box's own kernel, which is said; towards the host that one is filtered.
        const syscalls = guarantees.find(({ name }) => name === "syscalls");
        expect(syscalls?.by).toContain("the engine's seccomp profile is not applied inside");
        const { pid } = await daemon!.client.getBox("probed");
        expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/^Seccomp:\t2$/m);
      } else
        for (const call of [
          "unshare_user",
          "clone_user",
          "unshare_net",
          "keyctl",
          "add_key",
          "perf_event_open",
        ])
          expect(inside[call], call).not.toBe(0);
    },
  );

  itUnless(why)("doctor says which of the parts below it have a known flaw", async () => {
    const { escapes } = await daemon!.json<{ escapes: EscapeReport[] }>(["doctor"], { timeoutMs: 50_000 });
    expect(escapes).toContainEqual(
      expect.objectContaining({ advisory: "CVE-2026-31431", verdict: "closed" }),
    );
    for (const { verdict, hint } of escapes.filter((one) => one.verdict !== "closed")) {
      expect(["affected", "unknown"]).toContain(verdict);
      expect(hint).toBeTruthy();
    }
    const shown = await daemon!.cli(["doctor"], { timeoutMs: 50_000 });
    expect(shown.stdout).toContain("Known escapes");
    for (const { advisory } of escapes) expect(shown.stdout).toContain(advisory);
  });
});
