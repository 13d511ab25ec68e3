/**
 * Threat 14: a credential of the control side turns up in a box. Canaries stand in the daemon's environment, in the
 * environment of every command, in AGENTBOX_HOME and behind an agent socket; each way into a box is then searched.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { boxPaths } from "../../src/contract/box.ts";
import type { TestDaemon } from "../support/daemon.ts";
import { readEnviron } from "../support/host-facts.ts";
import type { ProgramResult } from "../support/program.ts";
import { emptyBox, type Ground, onEachDaemon, runtimeName } from "./attack.ts";

const canary = `canary-${process.pid}-${Math.random().toString(36).slice(2)}`;
/** In two halves, so that the search does not find itself. */
const [head, tail] = [canary.slice(0, 12), canary.slice(12)];

const daemonEnv = {
  ANTHROPIC_API_KEY: `${canary}-daemon`,
  AWS_SECRET_ACCESS_KEY: `${canary}-daemon`,
  SSH_AUTH_SOCK: `/tmp/${canary}-agent.sock`,
  GIT_SSH_COMMAND: `${canary}-daemon`,
  LD_PRELOAD: "",
};
const commandEnv = { GITHUB_TOKEN: `${canary}-cli`, SSH_AUTH_SOCK: `/tmp/${canary}-cli.sock`, MY_VAR: "cli" };

/**
 * Looks at everything a process in the box can: environment, command line, descriptors, mounts and memory of every
 * process, and every file in reach that is not part of the system. Prints what it searched and what it found.
 */
const searchScript = `
  const fs = require("node:fs"), path = require("node:path"), wanted = ${JSON.stringify(head)} + ${JSON.stringify(tail)};
  const found = []; let searched = 0;
  const look = (name, read) => { try { const text = read(); searched++; if (text.includes(wanted)) found.push(name); } catch {} };
  for (const pid of fs.readdirSync("/proc").filter((n) => /^\\d+$/.test(n))) {
    for (const file of ["environ", "cmdline", "mountinfo", "status", "cgroup"])
      look(pid + "/" + file, () => fs.readFileSync("/proc/" + pid + "/" + file, "latin1"));
    try { for (const fd of fs.readdirSync("/proc/" + pid + "/fd"))
      look(pid + "/fd/" + fd, () => fs.readlinkSync("/proc/" + pid + "/fd/" + fd)); } catch {}
    if (Number(pid) !== process.pid) try {
      const mem = fs.openSync("/proc/" + pid + "/mem", "r");
      for (const line of fs.readFileSync("/proc/" + pid + "/maps", "utf8").split("\\n")) {
        const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
        if (from === undefined) continue;
        const size = Math.min(Number(BigInt("0x" + to) - BigInt("0x" + from)), 32 << 20), bytes = Buffer.alloc(size);
        look(pid + "/mem", () => { fs.readSync(mem, bytes, 0, size, BigInt("0x" + from)); return bytes; });
      }
      fs.closeSync(mem);
    } catch {}
  }
  const walk = (dir) => { try { for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const at = path.join(dir, entry.name);
    look(at, () => at);
    if (entry.isDirectory()) walk(at); else if (entry.isFile()) look(at, () => fs.readFileSync(at, "latin1"));
    else if (entry.isSymbolicLink()) look(at, () => fs.readlinkSync(at));
  } } catch {} };
  for (const dir of ["/run", "/home", "/workspace", "/tmp", "/var", "/opt/agentbox/boxd", "/dev/shm"]) walk(dir);
  for (const name of ["passwd", "group", "hosts", "hostname", "machine-id", "resolv.conf"]) walk("/etc/" + name);
  console.log("SEARCH" + JSON.stringify({ searched, found, own: process.env.SEEN_CANARY ?? null }) + "DONE");
`;

interface Search {
  readonly searched: number;
  readonly found: readonly string[];
  readonly own: string | null;
}

function readSearch(output: string): Search {
  const text = /SEARCH(\{.*\})DONE/s.exec(output)?.[1];
  if (text === undefined) throw new Error(`The search did not end: ${output}`);
  return JSON.parse(text) as Search;
}

const withEnv = (daemon: TestDaemon, args: readonly string[]): Promise<ProgramResult> =>
  daemon.cli(args, { env: commandEnv });

const expectClean = (search: Search): void => {
  expect(search.searched).toBeGreaterThan(30);
  expect(search.found).toEqual([]);
};

const cases = (ground: Ground): void => {
  it("has something to hide: the canaries are where they were put", () => {
    expect(readEnviron(ground.daemon.pid).join("\n")).toContain(`${canary}-daemon`);
  });

  it("finds a canary that was handed over on purpose, so the search can see", async () => {
    const { daemon } = ground;
    const handed = `SEEN_CANARY=${canary}`;
    // In a box of its own, because what boxd has passed on once stays in its memory for a while.
    await emptyBox(daemon, "seeing-box");
    const result = await withEnv(daemon, [
      "exec",
      "seeing-box",
      "-e",
      handed,
      "--",
      "node",
      "-e",
      searchScript,
    ]);
    const search = readSearch(result.stdout);
    expect(search.own).toBe(canary);
    expect(search.found.some((name) => name.endsWith("/environ"))).toBe(true);
    // gVisor lets no program look into another's memory, of its own user either.
    expect(search.found.some((name) => name.endsWith("/mem"))).toBe(runtimeName !== "gvisor");
  });

  it("is clean by way of exec, with and without a terminal", async () => {
    const { daemon } = ground;
    for (const flags of [[], ["--terminal"]]) {
      const args = ["exec", "secret-box", "--no-stdin", ...flags, "--", "node", "-e", searchScript];
      expectClean(readSearch((await withEnv(daemon, args)).stdout));
    }
  });

  it("is clean by way of run", async () => {
    const args = ["run", "shell", "--workspace", "empty", "--rm", "--", "node", "-e", searchScript];
    expectClean(readSearch((await withEnv(ground.daemon, args)).stdout));
  });

  it("is clean by way of a session that was attached to, and of a service", async () => {
    const { daemon } = ground;
    const argv = ["node", "-e", searchScript];
    const spec = { argv, terminal: true, cols: 200, rows: 50 };
    await daemon.client.startSession("secret-box", { session: "search", spec });
    // Attached as a person would, with a command that has canaries in its environment.
    await withEnv(daemon, ["attach", "secret-box", "--session", "search", "--read-only"]);
    for (const source of ["search", "service:search"]) {
      const output = await waitFor(`the search of ${source} has ended`, async () => {
        const { stdout } = await daemon.cli(["logs", "secret-box", "--source", source]);
        const joined = stdout.replaceAll(/[\r\n]/g, "");
        return joined.includes("DONE") ? joined : undefined;
      });
      expectClean(readSearch(output));
    }
  });

  it("is clean after files were copied in and the daemon was replaced", async () => {
    const { daemon } = ground;
    const source = join(daemon.scratch, "plain.txt");
    writeFileSync(source, "plain");
    expect((await withEnv(daemon, ["cp", source, "secret-box:plain.txt"])).code).toBe(0);
    await daemon.kill();
    await daemon.start();
    const link = await waitFor(
      "the box is back",
      async () => (await daemon.client.getBox("secret-box")).isConnected,
    );
    expect(link).toBe(true);
    const result = await withEnv(daemon, ["exec", "secret-box", "--", "node", "-e", searchScript]);
    expectClean(readSearch(result.stdout));
  });

  it("has no way to an agent socket, although the host has one", async () => {
    const { daemon } = ground;
    const path = join(daemon.scratch, `${canary}.sock`);
    let visits = 0;
    const agent = createServer((socket) => {
      visits++;
      socket.destroy();
    }).listen(path);
    await once(agent, "listening");
    try {
      const script = 'echo "[$SSH_AUTH_SOCK]"; for path in "$@"; do test -e "$path"; echo $?; done';
      // The control: what is there is seen.
      const args = ["exec", "secret-box", "--", "sh", "-c", script, "sh", path, boxPaths.linkSocket];
      const { stdout } = await daemon.cli(args, { env: { SSH_AUTH_SOCK: path } });
      expect(stdout).toBe("[]\n1\n0\n");
      expect(visits).toBe(0);
    } finally {
      agent.close();
    }
  });
};

onEachDaemon("control credentials", cases, {
  env: daemonEnv,
  async prepare(daemon) {
    const file = join(daemon.home, "planted-secret");
    writeFileSync(file, `${canary}-home`, { mode: 0o600 });
    await emptyBox(daemon, "secret-box", {
      services: { search: { command: ["node", "-e", searchScript], restart: "no" } },
    });
  },
});
