/** The driver's reading of an engine's own words, from answers as the engines give them, on hosts of every kind. */
import { describe, expect, it } from "vitest";
import { boxPaths } from "../../../contract/box.ts";
import { type EngineAnswers, engineFacts } from "../../../host/engine/facts.ts";
import type { RuntimeBox } from "../../../ports/runtime.ts";
import { containerBody } from "./container-config.ts";
import { forbiddenSettings } from "./forbidden-settings.ts";
import { containerBoundary, isolationOf } from "./guarantees.ts";
import { engineProblem } from "./probe.ts";

const docker = { Version: "24.0.7", ApiVersion: "1.43", Arch: "amd64", Components: [{ Name: "Engine" }] };
const podman = {
  Version: "4.3.1",
  ApiVersion: "1.41",
  Arch: "amd64",
  Components: [{ Name: "Podman Engine" }],
};
const able = { MemoryLimit: true, CpuCfsQuota: true, PidsLimit: true, Runtimes: { runc: { path: "runc" } } };

const answers = {
  debian: {
    version: docker,
    info: {
      ...able,
      CgroupVersion: "2",
      DockerRootDir: "/var/lib/docker",
      SecurityOptions: ["name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"],
    },
  },
  fedora: {
    version: podman,
    info: { ...able, CgroupVersion: "2", SecurityOptions: ["name=seccomp,profile=default", "name=selinux"] },
  },
  podmanRootless: {
    version: podman,
    info: { ...able, CgroupVersion: "2", SecurityOptions: ["name=seccomp,profile=default", "name=rootless"] },
  },
  remapped: {
    version: docker,
    info: {
      ...able,
      CgroupVersion: "1",
      DockerRootDir: "/var/lib/docker/231072.231072",
      SecurityOptions: ["name=seccomp,profile=default", "name=userns"],
    },
  },
  dockerRootless: {
    version: docker,
    info: {
      ...able,
      CgroupVersion: "2",
      DockerRootDir: "/home/me/.local/share/docker",
      SecurityOptions: ["name=seccomp,profile=builtin", "name=rootless", "name=cgroupns"],
    },
  },
} satisfies Record<string, EngineAnswers>;

const facts = (kind: keyof typeof answers) => engineFacts(answers[kind]);
const box: RuntimeBox = {
  name: "b",
  owner: { uid: 251_072, gid: 251_072 },
  dirs: { runtime: "/s/b/runtime", link: "/s/b/link", home: "/s/b/home", workspace: "/s/b/workspace" },
  tools: { node: "/usr/bin/node", boxd: "/s/boxd" },
  mounts: [],
  resources: { cpus: 1.5, memoryBytes: 2 ** 30, pids: 64, required: ["cpus", "memory", "pids"] },
};
const inputOf = (of: RuntimeBox) => ({
  box: of,
  image: "i",
  layout: { entries: [], maskedFiles: [] },
  files: [],
  guardedNames: [],
  labels: {},
  seccomp: "{}",
});
const bodyOf = (kind: keyof typeof answers) => containerBody({ ...inputOf(box), facts: facts(kind) });
const guarantee = (kind: keyof typeof answers, name: string) =>
  isolationOf(box.resources, facts(kind), containerBoundary).guarantees.find((one) => one.name === name);

describe("engines", () => {
  it("AppArmor and SELinux are seen, and the engine's own profile of them is left in force", () => {
    expect(facts("debian")).toMatchObject({ hasApparmor: true, hasSelinux: false, hasSeccomp: true });
    expect(facts("fedora")).toMatchObject({ hasApparmor: false, hasSelinux: true, hasSeccomp: true });
    for (const kind of ["debian", "fedora"] as const)
      expect(bodyOf(kind).HostConfig.SecurityOpt).toEqual(["no-new-privileges:true", "seccomp={}"]);
  });

  it("control groups of the second version hold every limit, also of a rootless engine", () => {
    for (const kind of ["debian", "fedora", "podmanRootless"] as const) {
      expect(bodyOf(kind).HostConfig, kind).toMatchObject({
        CgroupnsMode: "private",
        NanoCpus: 1.5e9,
        Memory: 2 ** 30,
        MemorySwap: 2 ** 30,
        PidsLimit: 64,
      });
      expect(guarantee(kind, "memory limit"), kind).toMatchObject({ isEnforced: true });
      expect(guarantee(kind, "cgroup namespace"), kind).toMatchObject({ isEnforced: true });
    }
    const old = engineFacts({
      version: podman,
      info: { ...answers.podmanRootless.info, CgroupVersion: "1" },
    });
    const { guarantees } = isolationOf(box.resources, old, containerBoundary);
    expect(
      guarantees.filter(({ name }) => /limit|cgroup/.test(name)).map(({ isEnforced }) => isEnforced),
    ).toEqual([false, false, false, false]);
  });

  it("a rootless engine is a tier of its own", () => {
    const tier = (kind: keyof typeof answers) =>
      isolationOf(box.resources, facts(kind), containerBoundary).tier;
    expect(tier("podmanRootless")).toBe("rootless");
    expect(tier("debian")).toBe("container");
    expect(tier("remapped")).toBe("container");
  });

  it("where users are mapped, the box is inside who its owner is there, and never root", () => {
    expect(facts("remapped").mappedFrom).toBe(231_072);
    const body = bodyOf("remapped");
    expect(body.User).toBe("20000:20000");
    expect(body.HostConfig.UsernsMode).toBeUndefined();
    expect(body.HostConfig.Tmpfs?.[boxPaths.secrets]).toContain("uid=20000,gid=20000");
    expect(forbiddenSettings(body)).toEqual([]);
    expect(guarantee("remapped", "user namespace")).toMatchObject({ isEnforced: true });
    expect(guarantee("debian", "user namespace")).toMatchObject({ isEnforced: false });
    const asRoot = { ...box, owner: { uid: 231_072, gid: 231_072 } };
    const rootBody = containerBody({ ...inputOf(asRoot), facts: facts("remapped") });
    expect(forbiddenSettings(rootBody)).toEqual(['its user is "0:0"']);
  });

  it("a map that cannot be used is refused, with a way out", () => {
    const odd = engineFacts({
      version: docker,
      info: { ...answers.remapped.info, DockerRootDir: "/var/lib/docker/231072.300000" },
    });
    expect(engineProblem(odd)).toMatchObject({ hint: expect.stringContaining("/etc/subgid") as string });
    expect(engineProblem(facts("dockerRootless"))).toMatchObject({
      reason: expect.stringContaining("a box is never root") as string,
      hint: expect.stringContaining("rootless Podman") as string,
    });
    expect(engineProblem(facts("podmanRootless"))).toBeUndefined();
    expect(engineProblem(facts("debian"))).toBeUndefined();
  });
});
