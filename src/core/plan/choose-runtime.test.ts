import { describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import type { Isolation } from "../../contract/box.ts";
import { parseFlags } from "../../manifest/index.ts";
import type { Runtime } from "../../ports/runtime.ts";
import { chooseRuntime } from "./choose-runtime.ts";
import type { Runtimes } from "../context.ts";

const tiers: Readonly<Record<string, Isolation["tier"]>> = {
  memory: "none",
  bubblewrap: "namespaces",
  docker: "container",
  gvisor: "gvisor",
};
const host = (...ready: string[]): Runtimes => hostWith(tiers, ...ready);
const hostWith = (own: typeof tiers, ...ready: string[]): Runtimes => {
  const get = async (name: string): Promise<Runtime> =>
    ({ name, isolation: () => ({ tier: own[name]!, guarantees: [] }) }) as unknown as Runtime;
  return {
    names: Object.keys(tiers),
    offered: Object.keys(tiers),
    get,
    onOpen: () => undefined,
    requireReady: (name) =>
      ready.includes(name)
        ? get(name)
        : Promise.reject(new AgentBoxError("runtime.absent", `${name} is not here.`)),
  };
};
const choose = (runtimes: Runtimes, runtime: object, security: object = {}) =>
  chooseRuntime(runtimes, [parseFlags({ runtime, security })]);
const all = host("bubblewrap", "docker", "gvisor");
const exception = (more: object) => ({ exceptions: { x: { reason: "for this test", ...more } } });

describe("choosing a runtime", () => {
  it("without a word, it is the embedded one", async () => {
    expect(await chooseRuntime(all, [])).toBe("bubblewrap");
    expect(await choose(host(), { name: "docker" })).toBe("docker");
  });

  it("a tier is the strongest that is ready", async () => {
    expect(await choose(all, { tier: "namespaces" })).toBe("gvisor");
    expect(await choose(host("bubblewrap", "docker"), { tier: "namespaces" })).toBe("docker");
    expect(await choose(host("memory", "bubblewrap"), { tier: "namespaces" })).toBe("bubblewrap");
  });

  it("a tier that nothing here has is refused", async () => {
    expect(await choose(all, { tier: "gvisor" })).toBe("gvisor");
    await expect(choose(host("bubblewrap", "docker"), { tier: "gvisor" })).rejects.toMatchObject({
      code: "policy.unenforceable",
      message: "No runtime that is ready here has the isolation tier gvisor.",
      hint: expect.stringContaining("agentbox doctor") as string,
    });
    await expect(choose(host("memory"), { tier: "namespaces" })).rejects.toMatchObject({
      code: "policy.unenforceable",
    });
  });

  it("a name with a tier has that tier or better, or is refused with one that has", async () => {
    expect(await choose(all, { name: "docker", tier: "container" })).toBe("docker");
    expect(await choose(all, { name: "gvisor", tier: "container" })).toBe("gvisor");
    await expect(choose(all, { name: "docker", tier: "gvisor" })).rejects.toMatchObject({
      code: "policy.unenforceable",
      message: 'The runtime "docker" has the isolation tier container, and gvisor was asked for.',
      hint: expect.stringContaining("--runtime gvisor") as string,
    });
    await expect(choose(host("docker"), { name: "docker", tier: "gvisor" })).rejects.toMatchObject({
      hint: expect.stringContaining("agentbox doctor") as string,
    });
  });

  it("a rootless engine is more than a container and less than a kernel of the box's own", async () => {
    const rootless = hostWith({ ...tiers, docker: "rootless" }, "bubblewrap", "docker", "gvisor");
    for (const tier of ["container", "rootless"])
      expect(await choose(rootless, { name: "docker", tier }), tier).toBe("docker");
    expect(await choose(rootless, { tier: "rootless" })).toBe("gvisor");
    await expect(choose(rootless, { name: "docker", tier: "gvisor" })).rejects.toMatchObject({
      message: 'The runtime "docker" has the isolation tier rootless, and gvisor was asked for.',
    });
    await expect(choose(all, { name: "docker", tier: "rootless" })).rejects.toMatchObject({
      code: "policy.unenforceable",
    });
  });

  it("what only an engine can do chooses one, and the plainest", async () => {
    for (const asked of [{ image: "debian:12" }, { packages: ["git"] }])
      expect(await choose(all, asked), JSON.stringify(asked)).toBe("docker");
    for (const asked of [{ devices: ["/dev/kvm"] }, { gpus: 1 }, { capabilities: ["IPC_LOCK"] }])
      expect(await choose(all, {}, exception(asked)), JSON.stringify(asked)).toBe("docker");
    expect(await choose(all, {}, exception({ tmpfs: { "/scratch": "1MiB" } }))).toBe("bubblewrap");
    // Not enabled, so not asked for.
    expect(await choose(all, {}, exception({ gpus: 1, feature: "gpu" }))).toBe("bubblewrap");
    await expect(choose(host("bubblewrap"), { image: "debian:12" })).rejects.toMatchObject({
      code: "policy.unenforceable",
    });
  });
});
