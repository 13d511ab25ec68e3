/** A box that leaves as a compose file or a docker line is as closed as the one that the engine is asked for. */
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { omitUndefined } from "../src/base/omit-undefined.ts";
import { renderCompose } from "../src/cli/render/compose.ts";
import { dockerRunOptions, renderDockerRun } from "../src/contract/docker-run.ts";
import type { Box, SecurityException } from "../src/contract/box.ts";
import type { PortableContainer } from "../src/contract/container.ts";
import { portable } from "../src/core/box/export-box.ts";
import { type ContainerBody, containerBody } from "../src/drivers/runtime/engine/container-config.ts";
import { describeBody } from "../src/drivers/runtime/engine/description.ts";
import { type Granted, forbiddenSettings } from "../src/drivers/runtime/engine/forbidden-settings.ts";
import type { EngineFacts } from "../src/host/engine/facts.ts";
import type { RuntimeBox } from "../src/ports/runtime.ts";

const facts: EngineFacts = {
  kind: "docker",
  version: "28.0.0",
  apiVersion: "1.48",
  isRootless: false,
  hasUserNamespaces: false,
  cgroupVersion: 2,
  limits: { cpus: true, memory: true, pids: true },
  hasApparmor: false,
  hasSelinux: false,
  hasSeccomp: true,
  ociRuntimes: ["runc"],
  architecture: "x86_64",
};
interface Asked {
  readonly exceptions?: SecurityException[];
  readonly mounts?: RuntimeBox["mounts"];
  readonly env?: Record<string, string>;
  readonly memoryBytes?: number;
}

function made(asked: Asked): { body: ContainerBody; box: PortableContainer; granted: Granted } {
  const { exceptions = [], mounts = [], env = {}, memoryBytes } = asked;
  const dirs = { runtime: "/srv/b/r", link: "/srv/b/l", home: "/srv/b/h", workspace: "/srv/b/w" };
  const resources = { required: [], ...omitUndefined({ memoryBytes }), pids: 4_096 };
  const runtimeBox: RuntimeBox = {
    name: "shop",
    owner: { uid: 200_001, gid: 200_001 },
    dirs,
    tools: { node: "/srv/node", boxd: "/srv/boxd" },
    mounts,
    resources,
    exceptions,
  };
  const image = `sha256:${"0".repeat(64)}`;
  const body = containerBody({
    box: runtimeBox,
    image,
    layout: { entries: [], maskedFiles: [] },
    files: [],
    guardedNames: [],
    labels: {},
    facts,
    seccomp: "{}",
  });
  const box = { name: "shop", spec: { image, env, mounts, exceptions } } as unknown as Box;
  const granted = {
    devices: exceptions.flatMap(({ devices }) => devices),
    capabilities: exceptions.flatMap(({ capabilities }) => capabilities),
    gpus: exceptions.reduce((sum, { gpus }) => sum + gpus, 0),
  };
  return { body, box: portable(box, describeBody(body)), granted };
}

const home = "/home/ada/project";

/** The request that the engine would get. Its own list of calls is its default. */
const bodyOf = (values: Record<string, unknown>, host: Record<string, unknown>): ContainerBody => ({
  ...values,
  HostConfig: {
    ...host,
    SecurityOpt: [...(host["SecurityOpt"] as string[]), "seccomp=/default"],
    RestartPolicy: { Name: "no" },
  },
});

const bind = (source: string, target: string, isReadOnly: boolean) => ({
  Type: "bind",
  Source: source.replace(/^(\.|\$PWD)$/, home),
  Target: target,
  ReadOnly: isReadOnly,
  BindOptions: { Propagation: "rprivate" },
});

/** The few forms that the file is written in: `key: JSON`, `key:` with a block below, `- JSON`. */
function readYaml(text: string): unknown {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const value = (word: string): unknown =>
    /^["[{\d-]|^(?:true|false)$/.test(word) ? JSON.parse(word.replaceAll("$$", "$")) : word;
  const block = (depth: number): unknown => {
    const table: Record<string, unknown> = {};
    const list: unknown[] = [];
    for (;;) {
      const line = lines[0];
      const own = line === undefined ? -1 : line.search(/\S/) / 2;
      if (line === undefined || own < depth)
        return list.length > 0 ? list : Object.keys(table).length > 0 ? table : null;
      lines.shift();
      if (line.trimStart().startsWith("- ")) list.push(value(line.trim().slice(2)));
      else {
        const [, key, rest] = /^ *("(?:[^"\\]|\\.)*"|\w+):(?: (.*))?$/.exec(line)!;
        table[String(value(key!))] = rest === undefined ? block(depth + 1) : value(rest);
      }
    }
  };
  return block(0);
}

function fromCompose(text: string): ContainerBody {
  const { services } = readYaml(text) as { services: Record<string, Record<string, unknown>> };
  const service = services["shop"]!;
  const volumes = service["volumes"] as { source: string; target: string; read_only: boolean }[];
  const known = new Set(
    "image hostname user working_dir command stdin_open tty environment read_only cap_drop cap_add security_opt network_mode ipc cgroup tmpfs shm_size volumes sysctls ulimits devices deploy cpus mem_limit memswap_limit pids_limit runtime restart".split(
      " ",
    ),
  );
  expect(Object.keys(service).filter((key) => !known.has(key))).toEqual([]);
  const count = /"count":(\d+)/.exec(text)?.[1];
  return bodyOf(
    { User: service["user"] },
    {
      ReadonlyRootfs: service["read_only"],
      CapDrop: service["cap_drop"],
      CapAdd: service["cap_add"] ?? [],
      SecurityOpt: service["security_opt"],
      NetworkMode: service["network_mode"],
      IpcMode: service["ipc"],
      CgroupnsMode: service["cgroup"],
      Tmpfs: tmpfsOf(service["tmpfs"] as string[]),
      Mounts: volumes.map((volume) => bind(volume.source, volume.target, volume.read_only)),
      Sysctls: service["sysctls"],
      Devices: ((service["devices"] ?? []) as string[]).map((path) => ({ PathOnHost: path })),
      DeviceRequests: count === undefined ? [] : [{ Count: Number(count) }],
    },
  );
}

const tmpfsOf = (entries: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    entries.map((text) => [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)]),
  );

/** The words as a shell sees them. */
const wordsOf = (line: string): string[] =>
  execFileSync("/bin/sh", ["-c", `PWD=${home}; printf '%s\\0' ${line}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

function fromLine(line: string): ContainerBody {
  const words = wordsOf(line);
  const all = (flag: string): string[] => words.flatMap((word, i) => (word === flag ? [words[i + 1]!] : []));
  const one = (flag: string): string => all(flag)[0]!;
  return bodyOf(
    { User: one("--user") },
    {
      ReadonlyRootfs: words.includes("--read-only"),
      CapDrop: all("--cap-drop"),
      CapAdd: all("--cap-add"),
      SecurityOpt: all("--security-opt"),
      NetworkMode: one("--network"),
      IpcMode: one("--ipc"),
      CgroupnsMode: one("--cgroupns"),
      Tmpfs: tmpfsOf(all("--tmpfs")),
      Mounts: all("--mount").map((text) => {
        const source = /(?:^|,)"?source=([^,]*)/.exec(text)![1]!;
        return bind(
          source.startsWith("/") ? source : home,
          /target=([^,]*)/.exec(text)![1]!,
          text.endsWith(",readonly"),
        );
      }),
      Sysctls: Object.fromEntries(all("--sysctl").map((text) => text.split("="))),
      Devices: all("--device").map((path) => ({ PathOnHost: path })),
      DeviceRequests: all("--gpus").map((count) => ({ Count: Number(count) })),
    },
  );
}

const asked = fc.record({
  exceptions: fc.array(
    fc.record({
      name: fc.constant("x"),
      reason: fc.string(),
      devices: fc.subarray(["/dev/kvm", "/dev/fuse"]),
      tmpfs: fc.constantFrom({}, { "/scratch": 4096 }),
      capabilities: fc.subarray(["IPC_LOCK", "SYS_NICE"]),
      gpus: fc.nat(2),
    }),
    { maxLength: 2 },
  ),
  mounts: fc.array(
    fc.record({
      source: fc.constantFrom("/data", "/srv/with space", "/srv/$(id)", "/srv/it's", "/srv/`x`;y"),
      target: fc.constantFrom("/data", "/mnt/a b"),
      readOnly: fc.boolean(),
    }),
    { maxLength: 2 },
  ),
  env: fc.dictionary(fc.constantFrom("A", "TOKEN"), fc.string()),
});

describe("exported containers", () => {
  it("have nothing that a box may not have, whatever was asked for", () => {
    fc.assert(
      fc.property(asked, (values) => {
        const { body, box, granted } = made(values);
        expect(forbiddenSettings(body, granted)).toEqual([]);
        expect(forbiddenSettings(fromCompose(renderCompose(box)), granted)).toEqual([]);
        expect(forbiddenSettings(fromLine(renderDockerRun(box)), granted)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it("would be found out if they had: the control", () => {
    const { box } = made({});
    for (const broken of [
      { ...box, network: "bridge" },
      { ...box, user: "0:0" },
      { ...box, isRootReadOnly: false },
      { ...box, capAdd: ["SYS_ADMIN"] },
      { ...box, canGainPrivileges: true, capDrop: ["NET_RAW"] },
      { ...box, mounts: [{ source: "/var/run/docker.sock", target: "/x", readOnly: true }] },
      { ...box, devices: ["/dev/sda"] },
    ]) {
      if (!broken.canGainPrivileges)
        expect(forbiddenSettings(fromCompose(renderCompose(broken))), JSON.stringify(broken)).not.toEqual([]);
      expect(forbiddenSettings(fromLine(renderDockerRun(broken))), JSON.stringify(broken)).not.toEqual([]);
    }
  });

  it("name variables and never write their values down, and have nothing of this host's", () => {
    const { box } = made({
      env: { TOKEN: "canary-5e1f" },
      mounts: [{ source: "/data", target: "/data", readOnly: true }],
    });
    const [file, line] = [renderCompose(box), renderDockerRun(box)];
    for (const text of [file, line]) {
      expect(text).toContain("TOKEN");
      expect(text).not.toContain("canary-5e1f");
      expect(text).not.toContain("/srv/b");
      expect(text).not.toContain("200001");
      expect(text).toContain("/data");
    }
    expect(line).not.toContain("\n");
    expect(file).toMatch(/^# .*without it/);
  });

  it("a docker line is one command, whatever its parts are", () => {
    const source = "/srv/a'; touch /tmp/owned; echo '$(id) `id` $HOME";
    const { box } = made({ mounts: [{ source, target: "/data", readOnly: false }] });
    const words = wordsOf(renderDockerRun(box));
    expect(words.slice(0, 4)).toEqual(["docker", "run", "-it", "--rm"]);
    expect(words).toContain(`type=bind,source=${source},target=/data`);
    expect(words).toContain(`type=bind,source=${home},target=/workspace`);
    const count = dockerRunOptions(box).reduce((sum, option) => sum + option.length, 0);
    expect(words).toHaveLength(4 + count + 1 + box.command.length);
    const comma = made({ mounts: [{ source: "/srv/a,readonly,b", target: "/data", readOnly: false }] });
    expect(wordsOf(renderDockerRun(comma.box))).toContain(
      'type=bind,"source=/srv/a,readonly,b",target=/data',
    );
  });

  it("a dollar in a compose file stays a dollar", () => {
    const { box } = made({ mounts: [{ source: "/srv/${HOME}", target: "/data", readOnly: true }] });
    expect(renderCompose(box)).toContain('"/srv/$${HOME}"');
  });
});
