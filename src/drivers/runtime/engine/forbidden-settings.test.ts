import type Docker from "dockerode";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boxPaths } from "../../../contract/box.ts";
import type { EngineFacts } from "../../../host/engine/facts.ts";
import type { RuntimeBox } from "../../../ports/runtime.ts";
import { type ContainerBody, containerBody, type ContainerInput } from "./container-config.ts";
import { createContainer } from "./create-container.ts";
import { forbiddenSettings } from "./forbidden-settings.ts";

const facts: EngineFacts = {
  kind: "docker",
  version: "20.10.24",
  apiVersion: "1.41",
  isRootless: false,
  hasUserNamespaces: false,
  cgroupVersion: 1,
  limits: { cpus: true, memory: true, pids: true },
  hasApparmor: false,
  hasSelinux: false,
  hasSeccomp: true,
  ociRuntimes: ["runc"],
  architecture: "amd64",
};

const box: RuntimeBox = {
  name: "team-app",
  owner: { uid: 100_321, gid: 100_321 },
  dirs: { runtime: "/b/t/runtime", link: "/b/t/link", home: "/b/t/home", workspace: "/b/t/ws" },
  tools: { node: "/n/node", boxd: "/n/boxd" },
  mounts: [],
  resources: { required: [] },
};

const input: ContainerInput = {
  box,
  image: "agentbox-host-base:0",
  layout: { entries: [{ kind: "bind", path: "/usr" }], maskedFiles: [] },
  files: [{ source: "/b/t/runtime/engine.etc/passwd", target: "/etc/passwd" }],
  guardedNames: [".git"],
  labels: {},
  facts,
  seccomp: "{}",
};

const segment = fc.stringMatching(/^[a-zA-Z0-9:,=. _-]{1,12}$/).filter((text) => !/^\.+$/.test(text));
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => `/srv/${parts.join("/")}`);
const anyBox = fc.record({
  owner: fc.record({
    uid: fc.integer({ min: 1000, max: 2 ** 31 }),
    gid: fc.integer({ min: 1000, max: 2 ** 31 }),
  }),
  mounts: fc.array(fc.record({ source: path, target: path, readOnly: fc.boolean() }), { maxLength: 3 }),
  resources: fc.record(
    {
      cpus: fc.double({ min: 0.01, max: 64, noNaN: true }),
      memoryBytes: fc.integer({ min: 1 }),
      pids: fc.integer({ min: 1 }),
      required: fc.constant<RuntimeBox["resources"]["required"]>([]),
    },
    { requiredKeys: ["required"] },
  ),
  exceptions: fc.array(
    fc.record({
      name: segment,
      reason: segment,
      devices: fc.array(fc.constantFrom("/dev/kvm", "/dev/dri/renderD128")),
      tmpfs: fc.dictionary(path, fc.integer({ min: 1 })),
      capabilities: fc.array(fc.constantFrom("SYS_NICE", "CAP_IPC_LOCK")),
      gpus: fc.integer({ min: 0, max: 4 }),
    }),
    { maxLength: 2 },
  ),
});

const grantedOf = (exceptions: RuntimeBox["exceptions"] = []) => ({
  devices: exceptions.flatMap(({ devices }) => devices),
  capabilities: exceptions.flatMap(({ capabilities }) => capabilities),
  gpus: exceptions.reduce((sum, { gpus }) => sum + gpus, 0),
});

it("finds nothing in any body that is made for a box", () => {
  const anyFacts = fc.record({
    kind: fc.constantFrom("docker" as const, "podman" as const),
    isRootless: fc.boolean(),
    apiVersion: fc.constantFrom("1.41", "1.47"),
  });
  fc.assert(
    fc.property(anyBox, anyFacts, (some, about) => {
      const made = containerBody({
        ...input,
        box: { ...box, ...some },
        facts: { ...facts, ...about },
      });
      expect(forbiddenSettings(made, grantedOf(some.exceptions))).toEqual([]);
    }),
  );
});

it("keeps every mount as it was asked for, whatever is in its path", () => {
  const mounts = [{ source: "/srv/a:b,readonly", target: "/data/x:rw,z", readOnly: true }];
  const { Mounts } = containerBody({ ...input, box: { ...box, mounts } }).HostConfig;
  expect(Mounts?.at(-1)).toMatchObject({
    Type: "bind",
    Source: "/srv/a:b,readonly",
    Target: "/data/x:rw,z",
    ReadOnly: true,
  });
});

const changed = (host: object, rest: object = {}): ContainerBody => {
  const body = containerBody(input);
  return { ...body, ...rest, HostConfig: { ...body.HostConfig, ...host } };
};
const mount = (source: string, target: string, readOnly = true) => ({
  Mounts: [
    {
      Type: "bind",
      Source: source,
      Target: target,
      ReadOnly: readOnly,
      BindOptions: { Propagation: "rprivate" },
    },
  ],
});

describe("a planted setting is reported", () => {
  it.each<[string, ContainerBody]>([
    ["privileged", changed({ Privileged: true })],
    ["root", changed({}, { User: "0:0" })],
    ["no user", changed({}, { User: "" })],
    ["a system user", changed({}, { User: "33:33" })],
    ["a writable root", changed({ ReadonlyRootfs: false })],
    ["kept capabilities", changed({ CapDrop: [] })],
    ["a capability nobody granted", changed({ CapAdd: ["SYS_NICE"] })],
    ["the host's network", changed({ NetworkMode: "host" })],
    ["a bridge", changed({ NetworkMode: "bridge" })],
    ["the host's processes", changed({ PidMode: "host" })],
    ["the host's ipc", changed({ IpcMode: "host" })],
    ["the host's users", changed({ UsernsMode: "host" })],
    ["the host's control groups", changed({ CgroupnsMode: "host" })],
    ["no seccomp", changed({ SecurityOpt: ["no-new-privileges:true", "seccomp=unconfined"] })],
    [
      "no AppArmor",
      changed({ SecurityOpt: ["no-new-privileges:true", "seccomp={}", "apparmor=unconfined"] }),
    ],
    ["new privileges", changed({ SecurityOpt: ["seccomp={}"] })],
    ["open system paths", changed({ MaskedPaths: [] })],
    ["bind texts", changed({ Binds: ["/:/host"] })],
    ["a published port", changed({ PortBindings: {} })],
    ["a device", changed({ Devices: [{ PathOnHost: "/dev/sda" }] })],
    ["a sysctl", changed({ Sysctls: { "kernel.shm_rmid_forced": "0" } })],
    ["a restart by the engine", changed({ RestartPolicy: { Name: "always" } })],
    ["memory without a bound", changed({ Tmpfs: { "/x": "rw,nosuid" } })],
    ["the whole host", changed(mount("/", "/host"))],
    ["the engine's socket", changed(mount("/var/run/docker.sock", "/data/s"))],
    ["the engine's socket elsewhere", changed(mount("/srv/podman.sock", "/data/s"))],
    ["a writable system directory", changed(mount("/usr", "/usr", false))],
    ["a writable link directory", changed(mount("/b/t/link", boxPaths.run, false))],
    [
      "a volume of somebody else",
      changed({ Mounts: [{ Type: "volume", Source: "x", Target: boxPaths.secrets }] }),
    ],
  ])("%s", (_, body) => {
    expect(forbiddenSettings(body)).not.toEqual([]);
  });

  it("and nothing without one", () => {
    expect(forbiddenSettings(changed({}))).toEqual([]);
  });

  it("also where somebody granted it by name", () => {
    const granted = { devices: [], capabilities: ["SYS_ADMIN", "SYS_NICE"], gpus: 0 };
    expect(forbiddenSettings(changed({ CapAdd: ["SYS_ADMIN"] }), granted)).not.toEqual([]);
    expect(forbiddenSettings(changed({ CapAdd: ["SYS_NICE"] }), granted)).toEqual([]);
  });
});

describe("what is sent to the engine", () => {
  const installation = { id: "i1", runtime: "docker" };
  /** Takes note of what it is asked to make. */
  const engine = () => {
    const made: unknown[] = [];
    const client = {
      createContainer: async (body: unknown) => {
        made.push(body);
        return { id: "c1" };
      },
    } as unknown as Docker;
    return { client, made };
  };
  const body = containerBody(input);
  const withoutMounts = { ...body, HostConfig: { ...body.HostConfig, Mounts: [] } };

  it("is made when nothing in it is forbidden", async () => {
    const { client, made } = engine();
    expect(await createContainer(client, installation, box, withoutMounts)).toBe("c1");
    expect(made).toHaveLength(1);
  });

  it("is looked at once more, and a privileged container never reaches it", async () => {
    const { client, made } = engine();
    const hostile = { ...withoutMounts, HostConfig: { ...withoutMounts.HostConfig, Privileged: true } };
    await expect(createContainer(client, installation, box, hostile)).rejects.toMatchObject({
      code: "runtime.unsupported",
    });
    expect(made).toEqual([]);
  });
});
