import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { signalGroup } from "./process-group.ts";
import {
  findExecutable,
  type Program,
  type ProgramEnd,
  type ProgramSink,
  type ProgramSpec,
  silenceMs,
} from "./program.ts";

/** Starts a program with stdin, stdout and stderr as pipes, in a session of its own. */
export async function startWithPipes(spec: ProgramSpec, sink: ProgramSink): Promise<Program> {
  const file = findExecutable(spec);
  // With node's default, argv0 would be the resolved path, and programs that look at their own name would differ.
  const child = spawn(file, spec.argv.slice(1), {
    argv0: spec.argv[0]!,
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: "pipe",
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => reject(notStarted(spec, error)));
  });
  return new PipeProgram(child, sink);
}

function notStarted(spec: ProgramSpec, error: Error): AgentBoxError {
  const code = systemCode(error) === "ENOENT" ? "exec.not_found" : "exec.not_executable";
  return new AgentBoxError(code, `The command ${spec.argv[0]} could not be started: ${messageOf(error)}.`);
}

class PipeProgram implements Program {
  readonly pid: number;
  readonly #child: ChildProcessWithoutNullStreams;
  #isPaused = false;
  #silence: NodeJS.Timeout | undefined;

  constructor(child: ChildProcessWithoutNullStreams, sink: ProgramSink) {
    this.#child = child;
    this.pid = child.pid!;
    for (const [stream, channel] of [[child.stdout, 1] as const, [child.stderr, 2] as const]) {
      stream.on("data", (chunk: Buffer) => {
        this.#silence?.refresh();
        sink.output(chunk, channel);
      });
      stream.on("error", () => undefined);
    }
    child.stdin.on("error", () => undefined);
    child.stdin.on("drain", () => sink.drained());
    child.on("error", () => undefined);
    child.on("exit", (code, signal) => this.#finishAfterOutput(sink, { code, signal }));
  }

  write(chunk: Uint8Array): boolean {
    const { stdin } = this.#child;
    return stdin.writable ? stdin.write(chunk) : true;
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  pause(): void {
    this.#isPaused = true;
    this.#child.stdout.pause();
    this.#child.stderr.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#child.stdout.resume();
    this.#child.stderr.resume();
  }

  resize(): void {
    // Pipes have no size.
  }

  signal(signal: NodeJS.Signals): void {
    signalGroup(this.pid, signal);
  }

  #finishAfterOutput(sink: ProgramSink, end: ProgramEnd): void {
    this.#child.stdin.destroy();
    const giveUp = () => {
      // The output is not being read, so silence says nothing.
      if (this.#isPaused) this.#silence?.refresh();
      else {
        this.#child.stdout.destroy();
        this.#child.stderr.destroy();
      }
    };
    this.#silence = setTimeout(giveUp, silenceMs);
    this.#child.once("close", () => {
      clearTimeout(this.#silence);
      sink.ended(end);
    });
  }
}
