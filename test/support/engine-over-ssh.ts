/**
 * An engine that is reached by ssh: a server of this test's own on loopback, which lets one key in, forwards sockets and
 * gives no shell; and an `ssh` that finds key and host key where a person's own configuration would have them.
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { waitFor } from "../../src/base/wait-for.ts";
import { run } from "../../src/host/run.ts";
import { hasProgram, isRoot } from "./host-facts.ts";

export interface SshRoute extends AsyncDisposable {
  /** The address of the engine at this socket, by ssh. */
  readonly url: (socket: string) => string;
  /** Where that `ssh` is; first in PATH. */
  readonly programs: string;
  /** Makes the server a stranger: its key is not the one that is known. */
  readonly forgetHostKey: () => void;
}

export const sshUnavailable = (): string | undefined => {
  if (!isRoot) return "only root can start an ssh server of its own";
  const missing = ["sshd", "ssh", "ssh-keygen", "setpriv"].filter((program) => !hasProgram(program));
  return missing.length === 0 ? undefined : `not installed: ${missing.join(", ")}`;
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

export async function openSshRoute(): Promise<SshRoute> {
  const directory = mkdtempSync("/tmp/abx-ssh-");
  const at = (name: string): string => join(directory, name);
  for (const name of ["host", "client", "stranger"])
    await run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(name)]);
  const port = await freePort();
  const knowHost = (name: string): void =>
    writeFileSync(at("known"), `[127.0.0.1]:${port} ${readFileSync(at(`${name}.pub`), "utf8")}`);
  knowHost("host");
  const server = [
    `ListenAddress 127.0.0.1:${port}`,
    `HostKey ${at("host")}`,
    `AuthorizedKeysFile ${at("client.pub")}`,
    "PidFile none",
    "StrictModes no",
    "UsePAM no",
    "PasswordAuthentication no",
    "PermitRootLogin prohibit-password",
    // SECURITY: a holder of the key reaches sockets that root can open, and gets no shell.
    "ForceCommand /bin/false",
    "AllowTcpForwarding local",
    "AllowStreamLocalForwarding local",
  ];
  writeFileSync(at("server"), `${server.join("\n")}\n`);
  writeFileSync(
    at("client.conf"),
    `IdentityFile ${at("client")}\nUserKnownHostsFile ${at("known")}\nGlobalKnownHostsFile none\n`,
  );
  const programs = at("bin");
  mkdirSync(programs);
  writeFileSync(join(programs, "ssh"), `#!/bin/sh\nexec /usr/bin/ssh -F ${at("client.conf")} "$@"\n`);
  chmodSync(join(programs, "ssh"), 0o755);
  mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  let output = "";
  const child = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", at("server")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await waitFor("sshd listens", () => {
    if (child.exitCode !== null) throw new Error(output);
    return output.includes("Server listening");
  });
  return {
    url: (socket) => `ssh://root@127.0.0.1:${port}${socket}`,
    programs,
    forgetHostKey: () => knowHost("stranger"),
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
