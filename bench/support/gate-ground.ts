// Where the gate is measured: one network namespace in which documentation addresses lead to a server of the row, so
// that the gate does what it does for a real server, and no packet leaves the machine. The two cores that such a
// machine has are shared by the client, boxd, the daemon or the peer, and the server: the peer has one process less.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../../src/base/wait-for.ts";
import type { Skipped } from "./bench.ts";
import { agentbox, mustRun } from "./agentbox.ts";
import { type TestDaemon, startDaemon } from "../../test/support/daemon.ts";
import { isRoot, whyNoBubblewrap } from "../../test/support/host-facts.ts";
import { runProgram } from "../../test/support/program.ts";
import { repository } from "../../test/support/source-files.ts";

const serverAddress = "198.51.100.10";
/** One name whose connections are passed through, one whose requests are read: they differ in policy only. */
export const names = { tunnelled: "tunnel.test", inspected: "inspect.test" } as const;
export const ports = { https: 443, plain: 7000 } as const;

export interface LoadSpec {
  readonly kind: "download" | "connections" | "requests";
  readonly host: string;
  readonly port: number;
  readonly tls?: boolean;
  /** `host:port` to say CONNECT to; without it the name is connected to. */
  readonly proxy?: string;
  readonly ca?: string;
  readonly bytes?: number;
  readonly concurrency?: number;
  readonly count?: number;
  readonly warmupMs?: number;
  readonly measureMs?: number;
}

export interface LoadResult {
  /** MB/s of a download, otherwise how many a second. */
  readonly rate: number;
  readonly p50: number;
}

export interface GateGround {
  readonly daemon: TestDaemon;
  readonly directory: string;
  /** The authority of the server's certificate, outside of the box and in it. */
  readonly authority: string;
  readonly authorityInBox: string;
  readonly inBox: (spec: LoadSpec) => Promise<LoadResult>;
  readonly outside: (spec: LoadSpec) => Promise<LoadResult>;
  /** Starts a peer beside the daemon, as an unprivileged user; it ends with the ground. */
  readonly startPeer: (argv: readonly string[], port: number) => Promise<void>;
}

/** The proxy that programs in a box are pointed to. */
export const boxProxy = "127.0.0.1:3128";

const loadLimitMs = 300_000;
const nobody = 65_534;
const sources = join(repository, "bench/support");

class GateNode {
  readonly #children: ChildProcess[] = [];
  readonly directory = mkdtempSync("/tmp/abx-bench-");
  #pid = -1;

  async open(): Promise<void> {
    // Boxes and peers, which are other users, read the load program and the authority here.
    chmodSync(this.directory, 0o755);
    const hosts = join(this.directory, "hosts");
    writeFileSync(
      hosts,
      `127.0.0.1 localhost\n${Object.values(names)
        .map((name) => `${serverAddress} ${name}\n`)
        .join("")}`,
    );
    const script = [
      "ip link set lo up",
      // Delivered here, but no interface has it: the gate refuses the addresses of its own host.
      `ip route add local ${serverAddress}/32 dev lo`,
      // A load makes more connections than there are ports in a minute, and then measures the kernel's search for one.
      "echo 1 > /proc/sys/net/ipv4/tcp_tw_reuse",
      "echo 10000 65535 > /proc/sys/net/ipv4/ip_local_port_range",
      'mount --bind "$0" /etc/hosts',
      "echo ready",
      "exec sleep infinity",
    ].join(" && ");
    const unshare = ["unshare", "--net", "--mount", "--propagation", "private", "--"];
    const child = await this.#start([...unshare, "sh", "-c", script, hosts]);
    this.#pid = child.pid ?? -1;
  }

  enter = (argv: readonly string[]): readonly string[] => [
    "nsenter",
    "-t",
    `${this.#pid}`,
    "--net",
    "--mount",
    "--",
    ...argv,
  ];

  /** Starts a program that says in one line that it is ready. */
  startServer = (argv: readonly string[]): Promise<ChildProcess> => this.#start(this.enter(argv));

  async startPeer(argv: readonly string[], port: number): Promise<void> {
    const user = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", "--"];
    const [program = "", ...args] = this.enter([...user, ...argv]);
    const log: string[] = [];
    const env = { PATH: process.env["PATH"], HOME: this.directory, LANG: "C.UTF-8" };
    const child = spawn(program, args, { cwd: this.directory, env, stdio: ["ignore", "pipe", "pipe"] });
    this.#children.push(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => log.push(chunk.toString()));
    }
    const listening = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, "0")} [0-9A-F:]+ 0A `);
    await waitFor(`${argv[0]} listens`, () => {
      if (child.exitCode !== null) throw new Error(`${argv[0]} ended: ${log.join("")}`);
      return ["tcp", "tcp6"].some((file) =>
        listening.test(readFileSync(`/proc/${this.#pid}/net/${file}`, "utf8")),
      );
    });
  }

  async close(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #start(argv: readonly string[]): Promise<ChildProcess> {
    const child = spawn(argv[0] ?? "", argv.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
    this.#children.push(child);
    const ended = once(child, "exit").then(() => {
      throw new Error(`${argv.join(" ")} ended early.`);
    });
    await Promise.race([once(child.stdout, "data"), ended]);
    ended.catch(() => undefined);
    return child;
  }
}

async function makeCertificates(at: (file: string) => string): Promise<void> {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3"];
  const make = (...args: string[]) => mustRun(["openssl", "req", "-x509", ...key, ...args]);
  await make("-keyout", at("ca.key"), "-out", at("ca.pem"), "-subj", "/CN=The authority of a benchmark");
  const alternatives = Object.values(names).map((name) => `DNS:${name}`);
  const leaf = [`subjectAltName=${alternatives.join(",")}`, "basicConstraints=critical,CA:FALSE"];
  const issuer = ["-CA", at("ca.pem"), "-CAkey", at("ca.key")];
  const added = leaf.flatMap((extension) => ["-addext", extension]);
  await make(...issuer, ...added, "-keyout", at("web.key"), "-out", at("web.pem"), "-subj", "/CN=A server");
}

const policy = {
  allow: [names.tunnelled, `${names.tunnelled}:${ports.plain}`],
  rules: [{ host: names.inspected, methods: ["GET"], paths: ["/small/**"] }],
};

async function whyNoGround(): Promise<string | undefined> {
  if (!isRoot) return "only root can make the network namespace";
  const trial = await runProgram(["unshare", "--net", "--mount", "ip", "link", "set", "lo", "up"]);
  if (trial.code !== 0) return `network namespaces cannot be used here: ${trial.stderr.trim()}`;
  return whyNoBubblewrap();
}

const readResult = ({ stdout }: { stdout: string }): LoadResult => JSON.parse(stdout) as LoadResult;

const authorityInBox = "/tmp/ca.pem";

async function prepareBox(daemon: TestDaemon, load: string, authority: string): Promise<string> {
  const box = "load";
  await daemon.client.createBox({ name: box, flags: { workspace: { mode: "empty" }, network: policy } });
  await agentbox(daemon, ["cp", load, `${box}:/tmp/load.mjs`]);
  await agentbox(daemon, ["cp", authority, `${box}:${authorityInBox}`]);
  return box;
}

/** The body's results, or why there can be none here. */
export async function onGateGround<T>(
  name: string,
  body: (ground: GateGround) => Promise<readonly T[]>,
): Promise<readonly (T | Skipped)[]> {
  const missing = await whyNoGround();
  if (missing !== undefined) return [{ name, skipped: missing }];
  const node = new GateNode();
  try {
    await node.open();
    const at = (file: string) => join(node.directory, file);
    await makeCertificates(at);
    const server = [join(sources, "load-server.mjs"), serverAddress, at("web.key"), at("web.pem")];
    await node.startServer([process.execPath, ...server]);
    const env = { NODE_EXTRA_CA_CERTS: at("ca.pem") };
    await using daemon = await startDaemon({ wrap: node.enter, env });
    const load = join(sources, "load.mjs");
    const box = await prepareBox(daemon, load, at("ca.pem"));
    return await body({
      daemon,
      directory: node.directory,
      authority: at("ca.pem"),
      authorityInBox,
      async inBox(spec) {
        const args = ["exec", box, "--no-stdin", "--", "node", "/tmp/load.mjs", JSON.stringify(spec)];
        const { argv, env: cliEnv } = daemon.command(args);
        return readResult(await mustRun(argv, { env: cliEnv, cwd: daemon.scratch, timeoutMs: loadLimitMs }));
      },
      async outside(spec) {
        const argv = node.enter([process.execPath, load, JSON.stringify(spec)]);
        return readResult(await mustRun(argv, { timeoutMs: loadLimitMs }));
      },
      startPeer: (argv, port) => node.startPeer(argv, port),
    });
  } finally {
    await node.close();
  }
}
