/** A real boxd as a plain process, dialling a real link: what the tests of both ends run against. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ServiceSpec } from "../../contract/box.ts";
import type { Artifact, ExecOp, StreamOp, StreamOutput } from "../../contract/link/messages.ts";
import { linkProtocol } from "../../contract/link/protocol.ts";
import { systemClock, systemIds } from "../../host/clock.ts";
import { silentLogger } from "../../host/logger.ts";
import type { BoxLink, LinkListener, LinkStream } from "../../ports/link.ts";
import { openLinks } from "./index.ts";

const buildScript = fileURLToPath(new URL("../../../scripts/build-boxd.mjs", import.meta.url));
const links = openLinks({ ids: systemIds, clock: systemClock, logger: silentLogger });

let built: Promise<string> | undefined;

/** Built once a test file, into a directory with no node_modules anywhere above it. */
function buildBoxd(): Promise<string> {
  built ??= (async () => {
    const directory = await mkdtemp(join(tmpdir(), "agentbox-boxd-"));
    await promisify(execFile)(process.execPath, [buildScript, directory]);
    return directory;
  })();
  return built;
}

export async function removeBuild(): Promise<void> {
  if (built === undefined) return;
  const directory = await built;
  built = undefined;
  await rm(directory, { recursive: true, force: true });
}

export interface BoxOptions {
  readonly services?: readonly ServiceSpec[];
  readonly awaitsSecrets?: boolean;
  readonly artifacts?: readonly Artifact[];
  readonly listener?: LinkListener;
  /** Below the box's directory. */
  readonly sshAgent?: string;
}

export class FixtureBox implements AsyncDisposable {
  link!: BoxLink;
  boxd!: ChildProcess;
  readonly dir: string;
  readonly workspace: string;
  readonly linkDir: string;
  readonly #options: BoxOptions;

  private constructor(dir: string, options: BoxOptions) {
    this.dir = dir;
    this.workspace = join(dir, "workspace");
    this.linkDir = join(dir, "link");
    this.#options = options;
  }

  static async listen(options: BoxOptions = {}): Promise<FixtureBox> {
    const box = new FixtureBox(await mkdtemp(join(tmpdir(), "agentbox-link-")), options);
    await mkdir(box.workspace);
    await mkdir(box.linkDir);
    await box.listenAgain();
    return box;
  }

  static async start(options: BoxOptions = {}): Promise<FixtureBox> {
    const box = await FixtureBox.listen(options);
    await box.boot();
    await box.link.waitConnected(5_000);
    return box;
  }

  get sshAgent(): string | undefined {
    const { sshAgent } = this.#options;
    return sshAgent === undefined ? undefined : join(this.dir, sshAgent);
  }

  get socketPath(): string {
    return join(this.linkDir, "link.sock");
  }

  async listenAgain(): Promise<void> {
    this.link = await links.listen({
      linkDir: this.linkDir,
      owner: { uid: process.getuid!(), gid: process.getgid!() },
      config: {
        protocol: linkProtocol,
        box: "test-box",
        hostname: "test-box",
        workspace: this.workspace,
        env: { HOME: this.dir, FROM_CONFIG: "yes" },
        services: [...(this.#options.services ?? [])],
        awaitsSecrets: this.#options.awaitsSecrets,
        artifacts: this.#options.artifacts,
        sshAgent: this.sshAgent === undefined ? undefined : { socket: this.sshAgent, knownHosts: "a key\n" },
      },
      listener: this.#options.listener ?? {},
    });
  }

  async boot(): Promise<void> {
    const bundle = join(await buildBoxd(), "boxd", "boxd.js");
    this.boxd = spawn(process.execPath, [bundle, join(this.linkDir, "box.json"), this.socketPath], {
      stdio: ["ignore", "inherit", "inherit"],
      env: {},
    });
  }

  async exec(argv: string[], more: Partial<ExecOp> = {}, input?: string): Promise<Collected> {
    const stream = await this.open({ kind: "exec", argv, env: {}, ...more });
    const collected = collect(stream);
    if (input !== undefined) stream.write(Buffer.from(input));
    stream.endInput();
    return collected;
  }

  open(op: StreamOp): Promise<LinkStream> {
    return this.link.open(op);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.boxd && this.boxd.exitCode === null && this.boxd.signalCode === null) {
      const ended = once(this.boxd, "exit");
      if (this.link.isConnected) await this.link.shutdown(200).catch(() => this.boxd.kill("SIGKILL"));
      else this.boxd.kill("SIGTERM");
      await ended;
    }
    await this.link[Symbol.asyncDispose]();
    await rm(this.dir, { recursive: true, force: true });
  }
}

export interface Collected {
  readonly stdout: string;
  readonly stderr: string;
  readonly messages: StreamOutput[];
  readonly last: StreamOutput | undefined;
  readonly error: Error | undefined;
}

/** Everything a stream says until it closes. */
export function collect(stream: LinkStream): Promise<Collected> {
  const chunks: Record<1 | 2, Uint8Array[]> = { 1: [], 2: [] };
  const messages: StreamOutput[] = [];
  stream.onMessage((message) => messages.push(message));
  stream.onData((chunk, channel) => chunks[channel].push(chunk));
  return new Promise((resolve) => {
    stream.onClose((error) =>
      resolve({
        stdout: Buffer.concat(chunks[1]).toString(),
        stderr: Buffer.concat(chunks[2]).toString(),
        messages,
        last: messages.at(-1),
        error,
      }),
    );
  });
}
