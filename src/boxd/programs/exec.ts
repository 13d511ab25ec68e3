import { isFullMemory } from "../../contract/box-paths.ts";
import { decodeJson, type Frame, frameKind } from "../../contract/link/codec.ts";
import type { BoxdConfig, ExecOp, StreamInput } from "../../contract/link/messages.ts";
import type { Activity } from "../activity.ts";
import { boxEnv } from "../box-config.ts";
import { type Connection, dataKind } from "../connection.ts";
import { readMemoryDirs } from "../memory-dirs.ts";
import { startWithPipes } from "./pipe-program.ts";
import { signalName } from "./process-group.ts";
import type { Program, ProgramSink, ProgramSpec } from "./program.ts";
import { startOnTerminal } from "./terminal-program.ts";
import { resolve } from "node:path";

const hangUpGraceMs = 2_000;

/** Runs one command for one stream. The command lives as long as the stream. */
export async function serveExec(
  connection: Connection,
  op: ExecOp,
  config: BoxdConfig,
  activity: Activity,
): Promise<void> {
  const exec = new Exec(connection, activity);
  const cwd = resolve(config.workspace, op.cwd ?? ".");
  await exec.run({ argv: op.argv, env: boxEnv(config, op.env), cwd }, op);
}

class Exec implements ProgramSink {
  readonly #connection: Connection;
  readonly #activity: Activity;
  #program: Program | undefined;
  #isEnded = false;
  #timedOut = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: Connection, activity: Activity) {
    this.#connection = connection;
    this.#activity = activity;
  }

  async run(spec: ProgramSpec, op: ExecOp): Promise<void> {
    const connection = this.#connection;
    // Input that comes before the program runs waits in the socket.
    connection.pause();
    const program = op.terminal ? startOnTerminal(spec, op.terminal, this) : await startWithPipes(spec, this);
    this.#program = program;
    connection.send({ type: "started" });
    connection.onFrame((frame) => this.#input(program, frame));
    connection.onDrain(() => program.resume());
    connection.onClose(() => this.#hangUp(program));
    if (!connection.isOpen) this.#hangUp(program);
    if (op.timeoutMs !== undefined && !this.#isEnded) {
      this.#timer = setTimeout(() => {
        this.#timedOut = true;
        program.signal("SIGKILL");
      }, op.timeoutMs);
    }
    connection.resume();
  }

  output(chunk: Uint8Array, channel: 1 | 2): void {
    this.#activity.touch();
    if (!this.#connection.write(dataKind(channel), chunk)) this.#program?.pause();
  }

  drained(): void {
    this.#connection.resume();
  }

  ended({ code, signal }: { code: number | null; signal: string | null }): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    const full = readMemoryDirs().filter(isFullMemory);
    const exit = { type: "exit", code, signal, timedOut: this.#timedOut } as const;
    this.#connection.end(full.length === 0 ? exit : { ...exit, full });
  }

  #input(program: Program, frame: Frame): void {
    this.#activity.touch();
    if (frame.kind === frameKind.data) {
      if (!program.write(frame.payload)) this.#connection.pause();
    } else if (frame.kind === frameKind.eof) {
      program.endInput();
    } else if (frame.kind === frameKind.json) {
      const message = decodeJson(frame.payload) as StreamInput;
      if (message.type === "resize") program.resize(message.cols, message.rows);
      const signal = message.type === "signal" ? signalName(message.signal) : undefined;
      if (signal) program.signal(signal);
    }
  }

  #hangUp(program: Program): void {
    if (this.#isEnded) return;
    // The reader is gone; a program that waits for one could not end.
    program.resume();
    program.signal("SIGHUP");
    setTimeout(() => {
      if (!this.#isEnded) program.signal("SIGKILL");
    }, hangUpGraceMs);
  }
}
