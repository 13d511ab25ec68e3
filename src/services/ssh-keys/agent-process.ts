/**
 * A real ssh-agent with the keys of one box. Guarantees that it ends with us, however we end, that only our own user
 * reaches its socket, and that a key is in no argument and no file on its way into it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { deferred } from "../../base/deferred.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { ensureDirectory, writeFileAtomic } from "../../host/files.ts";
import { run } from "../../host/run.ts";
import { AgentChannel } from "./agent-channel.ts";
import { identitiesRequest, parseIdentities } from "./agent-messages.ts";
import type { SshKeysLimits } from "./limits.ts";

/**
 * SECURITY: the shell waits for the end of its input, which the kernel brings about also when the daemon is killed: no
 * agent with keys in it outlives its daemon. The path is an argument, never a part of the script.
 */
const script = `command -v ssh-agent >/dev/null || exit 127
ulimit -c 0
ssh-agent -D -a "$1" &
read -r _
kill -KILL $!
wait`;

const systemPath = "/usr/local/bin:/usr/bin:/bin";
/** Of a unix socket's address, without the NUL at its end. */
const maxPathBytes = 107;

export interface AgentProcessOptions {
  /** Made here, and removed with the agent. */
  readonly dir: string;
  readonly clock: Clock;
  readonly limits: SshKeysLimits;
  readonly searchPath?: string | undefined;
}

export class AgentProcess implements AsyncDisposable {
  readonly #options: AgentProcessOptions;
  readonly #child: ChildProcess;
  readonly #socketPath: string;

  private constructor(options: AgentProcessOptions, socketPath: string) {
    this.#options = options;
    this.#socketPath = socketPath;
    this.#child = spawn("/bin/sh", ["-c", script, "ssh-keys", socketPath], {
      stdio: ["pipe", "pipe", "ignore"],
      env: this.#env,
    });
    this.#child.stdin?.on("error", () => undefined);
  }

  static async start(options: AgentProcessOptions): Promise<AgentProcess> {
    const socketPath = join(options.dir, "a");
    if (Buffer.byteLength(socketPath) > maxPathBytes) {
      throw new AgentBoxError("secret.unavailable", `The path ${socketPath} is too long for a socket.`, {
        hint: "Set AGENTBOX_HOME to a shorter path.",
      });
    }
    await ensureDirectory(options.dir, { mode: 0o700 });
    const agent = new AgentProcess(options, socketPath);
    try {
      await agent.#ready();
      return agent;
    } catch (error) {
      await agent[Symbol.asyncDispose]();
      throw error;
    }
  }

  connect(): Promise<AgentChannel> {
    return AgentChannel.open(this.#socketPath, this.#options.clock, this.#options.limits);
  }

  /** The public keys it holds. */
  async list(): Promise<readonly Buffer[]> {
    using channel = await this.connect();
    return parseIdentities(await channel.ask(identitiesRequest)) ?? [];
  }

  /**
   * SECURITY: the key goes in by stdin, and is wiped here afterwards. `destinations` and `knownHosts` are made from
   * checked names only; with an askpass that always fails, a key with a passphrase is an error instead of a question.
   */
  async add(key: Buffer, destinations: readonly string[], knownHosts: string): Promise<void> {
    const file = join(this.#options.dir, "known_hosts");
    await writeFileAtomic(file, knownHosts, { isDurable: false });
    // Without a last line break ssh-add reads no key.
    const stdin = Buffer.concat([key, Buffer.from("\n")]);
    try {
      const result = await run(
        ["ssh-add", "-q", "-H", file, ...destinations.flatMap((to) => ["-h", to]), "-"],
        {
          stdin,
          timeoutMs: 15_000,
          env: {
            ...this.#env,
            SSH_AUTH_SOCK: this.#socketPath,
            SSH_ASKPASS: "/bin/false",
            SSH_ASKPASS_REQUIRE: "force",
          },
        },
      );
      if (result.code !== 0) throw notTaken();
    } finally {
      stdin.fill(0);
      key.fill(0);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.stdin?.end();
      await ended;
    }
    await rm(this.#options.dir, { recursive: true, force: true });
  }

  get #env(): Record<string, string> {
    return { PATH: this.#options.searchPath ?? systemPath, LC_ALL: "C", HOME: this.#options.dir };
  }

  /** It says where it listens as soon as it does. */
  async #ready(): Promise<void> {
    const { promise, resolve, reject } = deferred<void>();
    const cancel = this.#options.clock.after(this.#options.limits.agentStartMs, () => reject(notStarted()));
    this.#child.stdout?.once("data", () => resolve());
    this.#child.stdout?.on("data", () => undefined);
    this.#child.once("error", () => reject(notStarted()));
    this.#child.once("exit", () => reject(notStarted()));
    try {
      await promise;
    } finally {
      cancel();
    }
  }
}

const notStarted = (): AgentBoxError =>
  new AgentBoxError("secret.unavailable", "The program ssh-agent could not be started on the host.", {
    hint: "Install OpenSSH 8.9 or later, such as: apt install openssh-client",
  });

const notTaken = (): AgentBoxError =>
  new AgentBoxError("secret.unavailable", "ssh-add did not take the key.", {
    hint: "It must be a private key without a passphrase, and OpenSSH 8.9 or later.",
  });
