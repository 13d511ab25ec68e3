/**
 * An internet and a host of the test's own: two network namespaces with one wire between them. The internet has name
 * servers, web servers and the addresses a leak would go to; the daemon runs on the host, whose resolver and trusted
 * certificates are the test's. No packet leaves this machine.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { startDaemon, type TestDaemon, type TestDaemonOptions } from "./daemon.ts";
import { hasProgram, isRoot } from "./host-facts.ts";
import type { Credentials } from "./internet/credentialed.ts";
import type { Zone } from "./internet/dns.ts";
import type { Arrival } from "./internet/log.ts";
import type { InternetRequest } from "./internet/main.ts";
import { type ProgramResult, runProgram } from "./program.ts";
import { whyNoBoxes } from "./test-runtime.ts";

/** Addresses for documentation, and those to which a leak would go. All of them are the test's own here. */
export const addresses = {
  dns: "198.51.100.53",
  web: "198.51.100.10",
  web2: "198.51.100.11",
  web6: "2001:db8:2::10",
  host: "203.0.113.2",
  host6: "2001:db8:1::2",
  gateway: "203.0.113.1",
  publicDns: "8.8.8.8",
  metadata: "169.254.169.254",
  private: "10.9.8.7",
} as const;

/** Names that exist on the test's internet; each is in the certificate. */
const names = [
  "api.test",
  "other.test",
  "denied.test",
  "ask.test",
  "raw.test",
  "git.test",
  "npm.test",
  "pip.test",
  "apt.test",
  "postgres.test",
  "ssh.test",
  "echo.test",
  "doh.test",
  "six.test",
  "flip.test",
  "local.test",
  "a.wild.test",
  "wild.test",
  "notapi.test",
  "private.test",
  "code.test",
  "packages.test",
  "bucket.test",
  "keys.test",
  "mirror.test",
] as const;

export const ports = { raw: 8080, echo: 7000, dot: 853 } as const;

export interface TestNetwork extends AsyncDisposable {
  /** For files of the servers; `sites/<host>/` is served below `https://<host>/files/`. */
  readonly directory: string;
  /** The certificate of the internet's own authority, which the host trusts. */
  readonly authority: string;
  /** Options with which a daemon runs on this network's host. */
  readonly daemonOptions: Pick<TestDaemonOptions, "wrap" | "env">;
  startDaemon(options?: TestDaemonOptions): Promise<TestDaemon>;
  /** Everything that has reached the internet since it was last forgotten. */
  arrivals(): Promise<readonly Arrival[]>;
  /** The requests that have reached the services of the host that the daemon runs on. */
  hostArrivals(): Promise<readonly Arrival[]>;
  forget(): Promise<void>;
  setNames(zone: Zone): Promise<void>;
  /** The credentials that the servers take from now on. */
  setCredentials(credentials: Credentials): Promise<void>;
  /** IP packets that the internet has received, of every protocol; a connection counts as one. */
  packets(): number;
  /** Runs a program on the internet, such as a server of the test. */
  onInternet(argv: readonly string[]): readonly string[];
  /** Runs a program on the host, beside the daemon. */
  onHost(argv: readonly string[]): Promise<ProgramResult>;
}

/** Why there can be no such network here, or undefined when there can. */
export async function whyNoNetwork(): Promise<string | undefined> {
  if (!isRoot) return "only root can make network namespaces for a test";
  for (const program of ["ip", "unshare", "nsenter", "openssl"])
    if (!hasProgram(program)) return `${program} is not installed`;
  const trial = await runProgram([
    "unshare",
    "--net",
    "ip",
    "link",
    "add",
    "one",
    "type",
    "veth",
    "peer",
    "name",
    "two",
  ]);
  if (trial.code !== 0) return `network namespaces cannot be used here: ${trial.stderr.trim()}`;
  return whyNoBoxes();
}

/** One process in a namespace, and the questions it answers. */
class NetworkNode {
  readonly #waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  readonly #child: ChildProcess;
  #last = 0;

  constructor(argv: readonly string[]) {
    this.#child = spawn(argv[0] ?? "", argv.slice(1), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.#child.on("message", (message: { id: number; result?: unknown; error?: string }) => {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error === undefined) waiting?.resolve(message.result);
      else waiting?.reject(new Error(message.error));
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  ready = (): Promise<unknown> => once(this.#child, "message");

  ask<T>(request: InternetRequest): Promise<T> {
    this.#last += 1;
    const id = this.#last;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.send({ id, request });
    });
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}

async function must(argv: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram(argv);
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${stderr}`);
}

async function makeCertificates(directory: string): Promise<void> {
  const at = (file: string) => join(directory, file);
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3"];
  const make = (...args: string[]) => must(["openssl", "req", "-x509", ...key, ...args]);
  await make("-keyout", at("ca.key"), "-out", at("ca.pem"), "-subj", "/CN=The test internet");
  const alternatives = names.map((name) => `DNS:${name}`).join(",");
  const leaf = ["-addext", `subjectAltName=${alternatives}`, "-addext", "basicConstraints=critical,CA:FALSE"];
  const issuer = ["-CA", at("ca.pem"), "-CAkey", at("ca.key")];
  await make(...issuer, ...leaf, "-keyout", at("web.key"), "-out", at("web.pem"), "-subj", "/CN=api.test");
}

const internetAddresses = [
  addresses.dns,
  addresses.web,
  addresses.web2,
  addresses.publicDns,
  addresses.metadata,
  addresses.private,
];

/** The wire, and on each end the addresses that belong there. */
async function connectNodes(internet: NetworkNode, host: NetworkNode): Promise<void> {
  const inInternet = (...argv: string[]) => must(["nsenter", "-t", `${internet.pid}`, "--net", ...argv]);
  const inHost = (...argv: string[]) => must(["nsenter", "-t", `${host.pid}`, "--net", ...argv]);
  const quiet = (wire: string) =>
    `echo 0 > /proc/sys/net/ipv6/conf/${wire}/accept_ra; echo 0 > /proc/sys/net/ipv6/conf/${wire}/router_solicitations`;
  await inInternet("ip", "link", "set", "lo", "up");
  await inHost("ip", "link", "set", "lo", "up");
  const [far, near] = ["02:00:5e:00:53:01", "02:00:5e:00:53:02"] as const;
  const wire = ["wan", "address", far, "type", "veth", "peer", "name", "eth0", "address", near];
  await inInternet("ip", "link", "add", ...wire, "netns", `${host.pid}`);
  await inInternet("sh", "-c", quiet("wan"));
  await inHost("sh", "-c", quiet("eth0"));
  for (const address of internetAddresses)
    await inInternet("ip", "addr", "add", `${address}/32`, "dev", "lo");
  await inInternet("ip", "addr", "add", `${addresses.gateway}/24`, "dev", "wan");
  await inInternet("ip", "addr", "add", "2001:db8:1::1/64", "dev", "wan", "nodad");
  await inInternet("ip", "addr", "add", `${addresses.web6}/128`, "dev", "lo", "nodad");
  await inInternet("ip", "link", "set", "wan", "up");
  await inHost("ip", "addr", "add", `${addresses.host}/24`, "dev", "eth0");
  await inHost("ip", "addr", "add", `${addresses.host6}/64`, "dev", "eth0", "nodad");
  await inHost("ip", "link", "set", "eth0", "up");
  await inHost("ip", "route", "add", "default", "via", addresses.gateway);
  // Known neighbours need no search: every other packet on the wire was sent by a program.
  const known = (address: string, mac: string, dev: string) =>
    ["ip", "neigh", "replace", address, "lladdr", mac, "dev", dev, "nud", "permanent"] as const;
  await inHost(...known("2001:db8:1::1", far, "eth0"));
  await inInternet(...known(addresses.host6, near, "wan"));
  await inHost("ip", "-6", "route", "add", "default", "via", "2001:db8:1::1");
}

/** The host's resolver and its trusted certificates, seen by the daemon alone: its mount namespace is its own. */
async function setUpHost(host: NetworkNode, directory: string): Promise<void> {
  const bind = (source: string, target: string) =>
    must(["nsenter", "-t", `${host.pid}`, "--mount", "mount", "--bind", source, target]);
  writeFileSync(
    join(directory, "resolv.conf"),
    `nameserver ${addresses.dns}\noptions timeout:1 attempts:2\n`,
  );
  await bind(join(directory, "resolv.conf"), "/etc/resolv.conf");
  const bundle = "/etc/ssl/certs/ca-certificates.crt";
  const authority = readFileSync(join(directory, "ca.pem"), "utf8");
  writeFileSync(join(directory, "bundle.crt"), `${readFileSync(bundle, "utf8")}\n${authority}`, {
    mode: 0o644,
  });
  await bind(join(directory, "bundle.crt"), bundle);
}

/** Every name leads to the web server, unless a test says otherwise. */
const ordinaryNames = (): Zone => ({
  ...Object.fromEntries(names.map((name) => [name, [[addresses.web]]])),
  "six.test": [[addresses.web6]],
  "other.test": [[addresses.web2]],
  "private.test": [[addresses.private]],
  "local.test": [["127.0.0.1"]],
});

export async function openNetwork(): Promise<TestNetwork> {
  const directory = mkdtempSync("/tmp/abx-net-");
  // The servers run as users of their own; the private keys in it keep their own modes.
  chmodSync(directory, 0o711);
  const sites = join(directory, "sites");
  mkdirSync(sites);
  const script = join(directory, "internet.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "internet/main.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: script,
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "silent",
  });
  await makeCertificates(directory);
  const internet = new NetworkNode(["unshare", "--net", process.execPath, script]);
  const host = new NetworkNode([
    "unshare",
    "--net",
    "--mount",
    "--propagation",
    "private",
    process.execPath,
    script,
  ]);
  const close = async () => {
    await Promise.all([internet.end(), host.end()]);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await Promise.all([internet.ready(), host.ready()]);
    await connectNodes(internet, host);
    await setUpHost(host, directory);
    const web = { key: join(directory, "web.key"), certificate: join(directory, "web.pem"), sites };
    await internet.ask({
      do: "serve",
      dns: [addresses.dns, addresses.publicDns],
      web: { ...web, httpPorts: [80], httpsPorts: [443] },
      rawPorts: [ports.raw],
      echoPorts: [ports.echo],
      silentPorts: [ports.dot],
    });
    await host.ask({
      do: "serve",
      dns: [],
      web: { ...web, httpPorts: [80], httpsPorts: [443] },
      rawPorts: [],
      echoPorts: [ports.echo],
      silentPorts: [],
    });
    await internet.ask({ do: "names", names: ordinaryNames() });
  } catch (error) {
    await close();
    throw error;
  }
  const authority = join(directory, "ca.pem");
  const inHost = (argv: readonly string[]) => [
    "nsenter",
    "-t",
    `${host.pid}`,
    "--net",
    "--mount",
    "--",
    ...argv,
  ];
  const daemonOptions = { wrap: inHost, env: { NODE_EXTRA_CA_CERTS: authority } };
  return {
    directory,
    authority,
    daemonOptions,
    startDaemon: (options = {}) =>
      startDaemon({ ...daemonOptions, ...options, env: { ...daemonOptions.env, ...options.env } }),
    arrivals: () => internet.ask({ do: "arrivals" }),
    hostArrivals: () => host.ask({ do: "arrivals" }),
    async forget() {
      await internet.ask({ do: "forget" });
      await host.ask({ do: "forget" });
      await internet.ask({ do: "names", names: ordinaryNames() });
    },
    setNames: (zone) => internet.ask({ do: "names", names: zone }),
    setCredentials: (credentials) => internet.ask({ do: "credentials", credentials }),
    packets: () => receivedPackets(internet.pid),
    onInternet: (argv) => ["nsenter", "-t", `${internet.pid}`, "--net", "--", ...argv],
    onHost: (argv) => runProgram(inHost(argv)),
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Counted by the kernel, below every protocol. Not counted are later segments of connections that were let in (a
 * connection is one packet), and what IPv6 itself sends to groups on the wire.
 */
function receivedPackets(pid: number): number {
  const four = readFileSync(`/proc/${pid}/net/snmp`, "utf8").split("\n");
  const six = readFileSync(`/proc/${pid}/net/snmp6`, "utf8");
  const v4 = (section: string, name: string): number => {
    const [head = "", values = ""] = four.filter((line) => line.startsWith(`${section}:`));
    return Number(values.split(" ")[head.split(" ").indexOf(name)]);
  };
  const v6 = (name: string): number => Number(new RegExp(`^${name}\\s+(\\d+)`, "m").exec(six)?.[1] ?? 0);
  const all = v4("Ip", "InReceives") + v6("Ip6InReceives") - v6("Ip6InMcastPkts");
  return all - v4("Tcp", "InSegs") + v4("Tcp", "PassiveOpens") + v4("Tcp", "OutRsts");
}
