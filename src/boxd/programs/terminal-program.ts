import { existsSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { ReadStream } from "node:tty";
import { fileURLToPath } from "node:url";
import { systemCode } from "../../base/errors.ts";
import { signalGroup } from "./process-group.ts";
import {
  findExecutable,
  type Program,
  type ProgramEnd,
  type ProgramSink,
  type ProgramSpec,
  silenceMs,
} from "./program.ts";

/**
 * The native half of node-pty. Its JavaScript half is not used, because it throws away what is still unread 200 ms
 * after the program ended, and that is output of the agent when a viewer is slow.
 */
interface NativePty {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    isUtf8: boolean,
    unusedHelper: string,
    onExit: (code: number, signal: number) => void,
  ): { fd: number; pid: number; pty: string };
  resize(fd: number, cols: number, rows: number): void;
}

let native: NativePty | undefined;

function loadNative(): NativePty {
  // Beside the bundle in a box; in the package that npm chose for this machine everywhere else.
  const beside = fileURLToPath(new URL("./pty.node", import.meta.url));
  const require = createRequire(import.meta.url);
  if (existsSync(beside)) return require(beside) as NativePty;
  const packageRequire = createRequire(require.resolve("@lydell/node-pty"));
  return packageRequire(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`) as NativePty;
}

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** Starts a program on a terminal of its own, as the leader of a new session. */
export function startOnTerminal(spec: ProgramSpec, size: TerminalSize, sink: ProgramSink): Program {
  const file = findExecutable(spec);
  native ??= loadNative();
  const env = Object.entries({ ...spec.env, PWD: spec.cwd }).map(([name, value]) => `${name}=${value}`);
  let onExit: (end: ProgramEnd) => void = () => undefined;
  const args = spec.argv.slice(1);
  const { fd, pid } = native.fork(
    file,
    args,
    env,
    spec.cwd,
    size.cols,
    size.rows,
    -1,
    -1,
    true,
    "",
    (code, signal) =>
      onExit(signal === 0 ? { code, signal: null } : { code: null, signal: nameOfSignal(signal) }),
  );
  const program = new TerminalProgram(native, fd, pid, sink);
  onExit = (end) => program.exited(end);
  return program;
}

const nameOfSignal = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`;

/** A terminal hands out at most 4 KiB at a time; reads go into one buffer until the turn is over. */
const bufferBytes = 256 * 1024;
const readBytes = 4096;
/** A read of this size is part of a flood; it waits a moment for the next, and both are sent as one. */
const floodBytes = 2048;
const floodWaitMs = 3;

class TerminalProgram implements Program {
  readonly pid: number;
  readonly #native: NativePty;
  readonly #fd: number;
  readonly #sink: ProgramSink;
  readonly #stream: ReadStream;
  #buffer = Buffer.allocUnsafeSlow(bufferBytes);
  #from = 0;
  #to = 0;
  #isFlushDue = false;
  #isPaused = false;
  #isDrained = false;
  #end: ProgramEnd | undefined;
  #isOver = false;
  #silence: NodeJS.Timeout | undefined;

  constructor(nativePty: NativePty, fd: number, pid: number, sink: ProgramSink) {
    this.#native = nativePty;
    this.#fd = fd;
    this.pid = pid;
    this.#sink = sink;
    const onread = { buffer: () => this.#nextBuffer(), callback: (bytes: number) => this.#read(bytes) };
    // tty passes its options on to net, which is where `onread` and `allowHalfOpen` belong.
    this.#stream = new ReadStream(fd, { onread, allowHalfOpen: true } as object);
    // libuv reports the end of a terminal at the first short read after the hang-up, and every read of a terminal is
    // short. The rest of the output is read below, before the descriptor is closed.
    this.#stream.on("end", () => this.#readRest());
    this.#stream.on("error", () => this.#allRead());
    this.#stream.on("drain", () => sink.drained());
    this.#stream.resume();
  }

  write(chunk: Uint8Array): boolean {
    return this.#isOver || !this.#stream.writable ? true : this.#stream.write(chunk);
  }

  endInput(): void {
    // The key for this: end of file at the start of a line.
    this.write(Buffer.from([4]));
  }

  pause(): void {
    this.#isPaused = true;
    this.#stream.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#isOver) return;
    this.#stream.resume();
    if (this.#stream.readableEnded) this.#readRest();
  }

  resize(cols: number, rows: number): void {
    if (!this.#isOver && !this.#stream.destroyed) this.#native.resize(this.#fd, cols, rows);
  }

  signal(signal: NodeJS.Signals): void {
    signalGroup(this.pid, signal);
  }

  exited(end: ProgramEnd): void {
    this.#end = end;
    if (this.#isDrained) return this.#finish();
    const giveUp = () => (this.#isPaused ? this.#silence?.refresh() : this.#allRead());
    this.#silence = setTimeout(giveUp, silenceMs);
  }

  #nextBuffer(): Buffer {
    if (bufferBytes - this.#to < readBytes) {
      this.#flush();
      this.#buffer = Buffer.allocUnsafeSlow(bufferBytes);
      this.#from = this.#to = 0;
    }
    return this.#buffer.subarray(this.#to);
  }

  #read(bytes: number): boolean {
    this.#to += bytes;
    this.#silence?.refresh();
    if (!this.#isFlushDue) {
      this.#isFlushDue = true;
      if (bytes < floodBytes) setImmediate(() => this.#flush());
      else setTimeout(() => this.#flush(), floodWaitMs);
    }
    return !this.#isPaused;
  }

  #flush(): void {
    this.#isFlushDue = false;
    if (this.#to === this.#from) return;
    const chunk = this.#buffer.subarray(this.#from, this.#to);
    this.#from = this.#to;
    this.#sink.output(chunk, 1);
  }

  #readRest(): void {
    while (!this.#isPaused && !this.#isDrained) {
      try {
        const buffer = this.#nextBuffer();
        const bytes = readSync(this.#fd, buffer, 0, buffer.length, null);
        if (bytes === 0) return this.#allRead();
        this.#to += bytes;
        this.#flush();
      } catch (error) {
        // EAGAIN: another process still holds the terminal open; the silence after the exit decides.
        if (systemCode(error) === "EAGAIN") return void setTimeout(() => this.#readRest(), 10);
        return this.#allRead();
      }
    }
  }

  #allRead(): void {
    if (this.#isDrained) return;
    this.#isDrained = true;
    this.#flush();
    if (this.#end) this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#silence);
    this.#stream.destroy();
    this.#sink.ended(this.#end!);
  }
}
