/** Real servers on the test's internet: OpenSSH for git over ssh, and PostgreSQL. They end with the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../../src/base/wait-for.ts";
import { hasProgram } from "./host-facts.ts";
import { addresses, type TestNetwork } from "./network.ts";
import { runProgram } from "./program.ts";

export interface Server extends AsyncDisposable {}

async function must(argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(argv);
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}

function startServer(
  network: TestNetwork,
  argv: readonly string[],
): Server & { readonly output: () => string } {
  const [program = "", ...args] = network.onInternet(argv);
  const child: ChildProcess = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return {
    output: () => output,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGINT");
      await ended;
    },
  };
}

export const whyNoSshServer = (): string | undefined =>
  hasProgram("sshd") && hasProgram("ssh-keygen") ? undefined : "openssh-server is not installed";

export interface SshServer extends Server {
  /** The private key that it lets in. */
  readonly key: string;
  readonly publicKey: string;
  /** Its own key, as a known_hosts file has it behind the name. */
  readonly hostKey: string;
}

export interface SshServerOptions {
  readonly name?: string;
  readonly address?: string;
  /** A public key that it lets in beside its own. */
  readonly letsIn?: string;
  /** The command of every session. */
  readonly command?: string;
}

/** An OpenSSH server at ssh.test that serves repositories, or runs one given command instead. */
export async function startSshServer(
  network: TestNetwork,
  { name: folder = "ssh", address = addresses.web, letsIn = "", command }: SshServerOptions = {},
): Promise<SshServer> {
  const directory = join(network.directory, folder);
  mkdirSync(directory, { mode: 0o700 });
  for (const name of ["host", "client"])
    await must(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", join(directory, name)]);
  const read = (file: string) => readFileSync(join(directory, file), "utf8");
  writeFileSync(join(directory, "lets-in"), `${read("client.pub")}${letsIn}`);
  mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const config = [
    `ListenAddress ${address}`,
    `HostKey ${join(directory, "host")}`,
    `AuthorizedKeysFile ${join(directory, "lets-in")}`,
    `PidFile none`,
    "StrictModes no",
    "UsePAM no",
    "PasswordAuthentication no",
    "PermitRootLogin prohibit-password",
    // SECURITY: a holder of the key may read repositories, and gets no shell on this machine.
    `ForceCommand ${command ?? 'git-shell -c "$SSH_ORIGINAL_COMMAND"'}`,
    "AllowTcpForwarding no",
    "",
  ];
  writeFileSync(join(directory, "config"), config.join("\n"));
  const server = startServer(network, ["/usr/sbin/sshd", "-D", "-e", "-f", join(directory, "config")]);
  await waitFor("sshd listens", () => {
    if (/fatal|error|not supported/i.test(server.output())) throw new Error(server.output());
    return server.output().includes("Server listening");
  });
  return { ...server, key: read("client"), publicKey: read("client.pub"), hostKey: read("host.pub").trim() };
}

const postgresPrograms = (): string | undefined => {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root) : [];
  return versions.map((version) => join(root, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
};

export const whyNoPostgres = (): string | undefined =>
  postgresPrograms() === undefined ? "PostgreSQL is not installed" : undefined;

/** PostgreSQL at postgres.test that asks for no password. Returns the directory of its programs. */
export async function startPostgres(network: TestNetwork): Promise<Server & { readonly bin: string }> {
  const bin = postgresPrograms() ?? "";
  const [uid, gid] = ["-u", "-g"].map((flag) => must(["id", flag, "postgres"]));
  const owner = { uid: Number(await uid), gid: Number(await gid) };
  const data = join(network.directory, "postgres");
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, owner.uid, owner.gid);
  const asOwner = ["setpriv", `--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups", "--"];
  await must([
    ...asOwner,
    join(bin, "initdb"),
    "--no-sync",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "-D",
    data,
  ]);
  writeFileSync(join(data, "pg_hba.conf"), "host all all all trust\n");
  const settings = { listen_addresses: addresses.web, unix_socket_directories: "", fsync: "off" };
  const options = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  const server = startServer(network, [...asOwner, join(bin, "postgres"), "-D", data, ...options]);
  await waitFor("PostgreSQL is ready", () => {
    if (/FATAL/.test(server.output())) throw new Error(server.output());
    return server.output().includes("ready to accept connections");
  });
  return { ...server, bin };
}
