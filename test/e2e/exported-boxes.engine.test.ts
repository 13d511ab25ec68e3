/**
 * The output of `agentbox run-locally` and `agentbox compose`, run by the programs of other people: the container is as
 * closed as the box was, and works on the directory in which it is started.
 */
import { spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { TestDaemon } from "../support/daemon.ts";
import { engineRequest } from "../support/engine-request.ts";
import { hasProgram } from "../support/host-facts.ts";
import { buildMs, buildShared, makeProject, startImageDaemon, whyNoImages } from "../support/image-ground.ts";
import { itUnless } from "../support/skipping.ts";

const missing = (program: string): string | undefined =>
  whyNoImages("docker") ?? (hasProgram(program) ? undefined : `not installed: ${program}`);

const manifest = `version = 1
[runtime]
name = "docker"
packages = ["hello"]
[workspace]
mode = "empty"
[resources]
pids = 100
memory = "256MiB"
[env]
GREETING = "it's $HOME, and a secret"
`;

/** Says what the container can do; every line is a fact and its value. */
const probe = `
say() { echo "$1=$2"; }
try() { name=$1; shift; if "$@" 2>/dev/null; then say $name yes; else say $name no; fi; }
say user "$(id -u)"
say hello "$(hello -t)"
say interfaces "$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort | tr '\\n' ' ')"
say capabilities "$(grep CapEff /proc/self/status | cut -f2)"
say bounding "$(grep CapBnd /proc/self/status | cut -f2)"
say privileges "$(grep NoNewPrivs /proc/self/status | cut -f2)"
try system sh -c 'echo x > /usr/planted'
try etc sh -c 'echo x >> /etc/passwd'
try workspace sh -c 'echo done > /workspace/made'
try home sh -c 'echo x > $HOME/made'
say greeting "$GREETING"
echo ready=1
read end
`;

const closed = {
  user: "1000",
  hello: "hello, world",
  interfaces: "lo",
  capabilities: "0000000000000000",
  bounding: "0000000000000000",
  privileges: "1",
  system: "no",
  etc: "no",
  workspace: "yes",
  home: "yes",
  greeting: "from whoever starts it",
  ready: "1",
};

interface Inspected {
  readonly HostConfig: Readonly<Record<string, unknown>>;
  readonly Mounts: readonly { readonly Destination: string; readonly Source: string }[];
}

describe("an exported box", () => {
  let daemon: TestDaemon;
  let socket: string;
  let elsewhere: string;
  let reference: string;

  beforeAll(async () => {
    if (whyNoImages("docker") !== undefined) return;
    ({ daemon, socket } = await startImageDaemon("docker"));
    const project = await makeProject(daemon, { "agentbox.toml": manifest });
    reference = (await buildShared(daemon, project)).image.reference;
    const made = await daemon.cli(["create", "shell", "--name", "shared-box"], { cwd: project });
    expect(made.code, made.stderr).toBe(0);
    // A colleague's directory, which belongs to the first ordinary user of most hosts.
    elsewhere = join(daemon.scratch, "colleague's place");
    mkdirSync(elsewhere, { mode: 0o755 });
    chownSync(elsewhere, 1000, 1000);
  }, buildMs);
  afterAll(async () => daemon?.[Symbol.asyncDispose]());

  /** Runs the probe, and looks at the container from outside while it waits. */
  async function observe(
    argv: readonly string[],
  ): Promise<{ facts: Record<string, string>; inspected: Inspected }> {
    const child = spawn(argv[0]!, argv.slice(1), {
      cwd: elsewhere,
      env: {
        PATH: process.env["PATH"],
        HOME: daemon.scratch,
        DOCKER_HOST: `unix://${socket}`,
        GREETING: "from whoever starts it",
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let said = "";
    let complaint = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
    child.stdin.on("error", () => undefined);
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    try {
      child.stdin.write(probe);
      await waitFor(
        "the container is ready",
        () => {
          if (child.exitCode !== null)
            throw new Error(`It ended with ${child.exitCode}: ${complaint}${said}`);
          return said.includes("ready=1");
        },
        60_000,
      );
      const inspected = await inspectOnly();
      const pairs = said.split("\n").flatMap((line): [string, string][] => {
        const at = line.indexOf("=");
        return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1).trimEnd()]];
      });
      return { facts: Object.fromEntries(pairs), inspected };
    } finally {
      child.stdin.end("\n");
      const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
      await ended;
      clearTimeout(timer);
    }
  }

  async function inspectOnly(): Promise<Inspected> {
    const filters = encodeURIComponent(JSON.stringify({ ancestor: [reference], status: ["running"] }));
    const { text } = await engineRequest(socket, "GET", `/v1.41/containers/json?filters=${filters}`);
    const [{ Id } = { Id: "" }, ...others] = JSON.parse(text) as { Id: string }[];
    expect(others).toEqual([]);
    return JSON.parse((await engineRequest(socket, "GET", `/v1.41/containers/${Id}/json`)).text) as Inspected;
  }

  function expectClosed({ HostConfig, Mounts }: Inspected): void {
    expect(HostConfig).toMatchObject({
      ReadonlyRootfs: true,
      Privileged: false,
      NetworkMode: "none",
      IpcMode: "private",
      PidMode: "",
      UTSMode: "",
      Memory: 256 * 2 ** 20,
      MemorySwap: 256 * 2 ** 20,
      PidsLimit: 100,
      CapDrop: ["ALL"],
      SecurityOpt: [expect.stringMatching(/^no-new-privileges/)],
    });
    for (const key of ["CapAdd", "Devices", "DeviceRequests", "GroupAdd", "VolumesFrom", "PortBindings"]) {
      expect(Object.keys((HostConfig[key] as object | null) ?? {}), key).toEqual([]);
    }
    expect(Mounts.map(({ Source, Destination }) => [Source, Destination])).toEqual([
      [elsewhere, "/workspace"],
    ]);
  }

  const cleared = (): void => writeFileSync(join(elsewhere, "made"), "");
  const expectMade = (): void => {
    expect(readFileSync(join(elsewhere, "made"), "utf8")).toBe("done\n");
    expect(statSync(elsewhere).uid).toBe(1000);
  };

  itUnless(missing("docker"))("the probe finds a container open that is: the control", async () => {
    const mount = `type=bind,source=${elsewhere},target=/workspace`;
    const open = `docker run -i --rm --network host --mount "$1" ${reference} /bin/sh`;
    const { facts } = await observe(["/bin/sh", "-c", open, "sh", mount]);
    expect(facts).toMatchObject({ user: "0", system: "yes", etc: "yes", privileges: "0" });
    expect(facts["interfaces"]).not.toBe("lo");
    expect(facts["capabilities"]).not.toBe(closed.capabilities);
  });

  itUnless(missing("docker"))("runs as the line that run-locally prints", async () => {
    const printed = await daemon.cli(["run-locally", "shared-box"]);
    expect(printed.stdout).not.toContain("a secret");
    // There is no terminal here; that is all that is changed.
    const line = printed.stdout.trim().replace(/^docker run -it /, "docker run -i ");
    cleared();
    chownSync(join(elsewhere, "made"), 1000, 1000);
    const { facts, inspected } = await observe(["/bin/sh", "-c", line]);
    expect(facts).toEqual(closed);
    expectClosed(inspected);
    expect(inspected.HostConfig["CgroupnsMode"]).toBe("private");
    expectMade();
  });

  itUnless(missing("docker-compose"))("runs as the file that compose writes", async () => {
    const file = join(elsewhere, "docker-compose.yml");
    expect(existsSync(file)).toBe(false);
    const wrote = await daemon.cli(["compose", "shared-box", "--output", file]);
    expect(wrote.code, wrote.stderr).toBe(0);
    const text = readFileSync(file, "utf8");
    expect(text).not.toContain("a secret");
    expect(text).toMatch(/^ {4}cgroup: private$/m);
    // Debian's docker-compose is of the first generation, which does not know this key and refuses the file for it.
    writeFileSync(file, text.replace(/^ {4}cgroup: private\n/m, ""));
    cleared();
    chownSync(join(elsewhere, "made"), 1000, 1000);
    const { facts, inspected } = await observe([
      "docker-compose",
      "-f",
      file,
      "run",
      "--rm",
      "-T",
      "shared-box",
    ]);
    expect(facts).toEqual(closed);
    expectClosed(inspected);
    expectMade();
  });
});
