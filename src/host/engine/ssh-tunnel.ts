/**
 * The way to an engine behind ssh: the person's own ssh, with their keys, agent, configuration and known hosts, holds
 * one forwarded socket that only this user can open. It is there while connections need it, comes back when it broke,
 * and ends with this process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callbackify } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { inheritedEnv } from "../env.ts";
import { pathKind } from "../files.ts";
import type { SshAddress } from "./ssh-address.ts";

const openTimeoutMs = 15_000;
const idleMs = 60_000;
const keptWords = 4_000;

/**
 * SECURITY: host keys are checked as the person's configuration says, no one is asked for a password, and nothing of
 * this host is lent to that one. `--` and the checked address keep a destination from being an option.
 */
export const tunnelArgv = (
  { destination, port, socketPath }: SshAddress,
  localPath: string,
): readonly string[] => [
  "ssh",
  "-N",
  "-T",
  ...[
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ControlMaster=no",
    "ControlPath=none",
    "ExitOnForwardFailure=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ServerAliveInterval=15",
    "StreamLocalBindMask=0177",
  ].flatMap((option) => ["-o", option]),
  ...(port === undefined ? [] : ["-p", String(port)]),
  "-L",
  `${localPath}:${socketPath}`,
  "--",
  destination,
];

interface Tunnel {
  readonly child: ChildProcess;
  readonly directory: string;
  readonly path: string;
}

/** For the engine's client: every connection goes through the tunnel, which the first of them makes. */
export class SshAgent extends Agent {
  readonly #address: SshAddress;
  #opening: Promise<Tunnel> | undefined;
  #connections = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(address: SshAddress) {
    super({ keepAlive: false });
    this.#address = address;
  }

  override createConnection(
    _options: object,
    done?: (error: Error | null, stream: Socket) => void,
  ): undefined {
    callbackify(() => this.#connect())((error, socket) => done?.(error, socket));
    return undefined;
  }

  async #connect(): Promise<Socket> {
    clearTimeout(this.#idle);
    this.#connections += 1;
    try {
      this.#opening ??= this.#open();
      const { path } = await this.#opening;
      const socket = connect(path);
      socket.once("close", () => this.#released());
      return socket;
    } catch (error) {
      this.#opening = undefined;
      this.#released();
      throw error;
    }
  }

  /** Kept for a while, because the next request is often near; never a reason for this process to stay. */
  #released(): void {
    this.#connections -= 1;
    if (this.#connections > 0) return;
    this.#idle = setTimeout(() => void this.#opening?.then(({ child }) => child.kill()), idleMs).unref();
  }

  async #open(): Promise<Tunnel> {
    const directory = await mkdtemp(join(tmpdir(), "agentbox-ssh-"));
    const path = join(directory, "s");
    // Ends with this process however that ends, so that no way to an engine is left open.
    const argv = ["--pdeathsig", "TERM", "--", ...tunnelArgv(this.#address, path)];
    const child = spawn("setpriv", argv, { stdio: ["ignore", "ignore", "pipe"], env: inheritedEnv() });
    child.unref();
    let words = "";
    child.stderr.on("data", (chunk: Buffer) => (words = (words + chunk.toString()).slice(-keptWords)));
    (child.stderr as Socket).unref();
    const tidy = (): void => rmSync(directory, { recursive: true, force: true });
    process.once("exit", tidy);
    const ended = new Promise<never>((_, reject) => {
      child.once("error", (error) => reject(this.#failure(messageOf(error))));
      child.once("close", () => {
        this.#opening = undefined;
        process.removeListener("exit", tidy);
        tidy();
        reject(this.#failure(words));
      });
    });
    await Promise.race([this.#untilThere(path), ended]).catch((error: unknown) => {
      child.kill();
      throw error;
    });
    ended.catch(() => undefined);
    return { child, directory, path };
  }

  async #untilThere(path: string): Promise<void> {
    const deadline = performance.now() + openTimeoutMs;
    while ((await pathKind(path)) === undefined) {
      if (performance.now() > deadline) throw this.#failure("it takes too long");
      await delay(10);
    }
  }

  #failure(words: string): AgentBoxError {
    const { destination } = this.#address;
    const last = printable(words.trim().split("\n").at(-1) ?? "").replace(/\.$/, "");
    return new AgentBoxError(
      "runtime.broken",
      `The engine's host cannot be reached by ssh: ${last || "ssh ended"}.`,
      {
        hint: `Try it by hand, and accept the host's key once: ssh ${destination} true`,
        facts: { destination },
      },
    );
  }
}
