import type { MainSession } from "../../contract/box.ts";
import type { AttachOp, BoxdConfig, SessionStatus } from "../../contract/link/messages.ts";
import type { Activity } from "../activity.ts";
import { boxEnv } from "../box-config.ts";
import { type Connection, dataKind } from "../connection.ts";
import { OutputRing } from "../output/output-ring.ts";
import { startWithPipes } from "../programs/pipe-program.ts";
import type { Program, ProgramEnd, ProgramSink } from "../programs/program.ts";
import { Screen } from "./screen.ts";
import { startOnTerminal, type TerminalSize } from "../programs/terminal-program.ts";
import { Throttle } from "./throttle.ts";
import { Viewer } from "./viewer.ts";

export interface SessionOptions {
  readonly id: string;
  readonly spec: MainSession;
  /** No person will type: programs that read stdin to its end must not wait for one. */
  readonly hasNoInput: boolean;
  readonly config: BoxdConfig;
  readonly activity: Activity;
  readonly onEnd: (session: Session) => void;
}

/** Terminal programs that take longer are not waited for. */
const startUpMs = 15_000;
/** Between saying that they read and reading, some still draw. */
const settleMs = 700;

/** A program that lives on its own: viewers come and go, and the host may be away. */
export class Session implements ProgramSink {
  readonly id: string;
  readonly ring = new OutputRing();
  readonly #options: SessionOptions;
  readonly #startedAtMs = Date.now();
  readonly #viewers = new Set<Viewer>();
  readonly #throttle: Throttle;
  #program!: Program;
  #screen: Screen | undefined;
  #listensSinceMs: number | undefined;
  #lastScreen: string | undefined;
  #end: ProgramEnd | undefined;
  #size: TerminalSize;

  private constructor(options: SessionOptions) {
    this.id = options.id;
    this.#options = options;
    this.#size = { cols: options.spec.cols, rows: options.spec.rows };
    this.#throttle = new Throttle({
      viewers: this.#viewers,
      isScreenFull: () => this.#screen?.isFull ?? false,
      // A terminal goes on without a viewer that does not read; output into a pipe is not thrown away.
      mayOvertake: options.spec.terminal,
      setPaused: (isPaused) => (isPaused ? this.#program.pause() : this.#program.resume()),
    });
  }

  static async start(options: SessionOptions): Promise<Session> {
    const { spec, config } = options;
    const session = new Session(options);
    const program = { argv: spec.argv, env: boxEnv(config, spec.env), cwd: config.workspace };
    if (spec.terminal) {
      const { Emulator } = await import("./emulator.ts");
      const emulator = new Emulator(spec.cols, spec.rows, (text) => session.#answer(text));
      session.#screen = new Screen(emulator, () => session.#throttle.update());
      session.#program = startOnTerminal(program, spec, session);
    } else {
      session.#program = await startWithPipes(program, session);
      if (options.hasNoInput) session.#program.endInput();
    }
    return session;
  }

  get isRunning(): boolean {
    return this.#end === undefined;
  }

  get status(): SessionStatus {
    const { spec } = this.#options;
    return {
      id: this.id,
      argv: shortened(spec.argv),
      terminal: spec.terminal,
      state: this.isRunning ? "running" : "ended",
      exitCode: this.#end?.code ?? null,
      signal: this.#end?.signal ?? null,
      startedAtMs: this.#startedAtMs,
      viewers: this.#viewers.size,
      outputBytes: this.ring.total,
    };
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#program.signal(signal);
  }

  /** Typed by the host for the user; a program that has just been started is given time to begin to read. */
  async input(text: string): Promise<void> {
    this.#options.activity.touch();
    await this.#isListening();
    this.#program.write(Buffer.from(text));
  }

  async #isListening(): Promise<void> {
    while (this.isRunning && this.#screen && Date.now() - this.#startedAtMs < startUpMs) {
      if (await this.#screen.readsPastes()) {
        if (this.#listensSinceMs === undefined) this.#listensSinceMs = Date.now();
        else if (Date.now() - this.#listensSinceMs >= settleMs) return;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  attach(connection: Connection, op: AttachOp): void {
    this.#options.activity.touch();
    connection.send({ type: "started" });
    if (!this.isRunning && this.#options.spec.terminal) return this.#showEnd(connection);
    const viewer = new Viewer(connection, this.ring, op, {
      input: (chunk) => {
        this.#options.activity.touch();
        return this.#program.write(chunk);
      },
      endInput: () => this.#options.spec.terminal || this.#program.endInput(),
      signal: (signal) => this.signal(signal),
      resize: (cols, rows) => this.#resize(cols, rows),
      screen: this.#screen ? () => this.#snapshot() : undefined,
      size: () => this.#size,
      progressed: () => this.#throttle.progressed(viewer),
      finished: () => this.#leave(connection),
      closed: () => {
        this.#viewers.delete(viewer);
        this.#throttle.update();
      },
    });
    this.#viewers.add(viewer);
    if (!op.readOnly) this.#resize(op.cols, op.rows);
    viewer.begin();
  }

  output(chunk: Uint8Array, channel: 1 | 2): void {
    this.#options.activity.touch();
    this.ring.append(chunk, channel);
    this.#screen?.write(chunk);
    this.#throttle.update();
  }

  drained(): void {
    for (const viewer of this.#viewers) viewer.resumeInput();
  }

  ended(end: ProgramEnd): void {
    this.#end = end;
    const finish = (screen?: string) => {
      this.#lastScreen = screen;
      this.#screen = undefined;
      this.ring.end();
      this.#options.onEnd(this);
    };
    // Only the text is kept: an emulator with its scrollback weighs megabytes.
    if (this.#screen) void this.#screen.close().then(finish);
    else finish();
  }

  #resize(cols: number, rows: number): void {
    if (!this.isRunning) return;
    this.#program.resize(cols, rows);
    this.#screen?.resize(cols, rows);
    this.#size = { cols, rows };
    for (const viewer of this.#viewers) viewer.sized();
  }

  /** While the screen is taken the program waits; otherwise its output could outrun the ring before it is sent. */
  async #snapshot(): Promise<string> {
    const screen = this.#screen;
    if (!screen) return this.#lastScreen ?? "";
    this.#throttle.hold();
    try {
      return await screen.snapshot();
    } finally {
      this.#throttle.release();
    }
  }

  #showEnd(connection: Connection): void {
    connection.send({ type: "size", ...this.#size });
    connection.write(dataKind(1), Buffer.from(this.#lastScreen ?? ""));
    this.#leave(connection);
  }

  #leave(connection: Connection): void {
    const { code, signal } = this.#end ?? { code: null, signal: null };
    connection.end({ type: "exit", code, signal, timedOut: false });
  }

  /** Programs ask their terminal questions. A viewer's terminal may answer them; if none does, the emulator does. */
  #answer(text: string): void {
    const isLeftToViewer = [...this.#viewers].some((viewer) => viewer.answers);
    if (!isLeftToViewer && this.isRunning) this.#program.write(Buffer.from(text));
  }
}

/** Enough to recognise the command; the whole of it could be larger than a frame. */
const shortened = (argv: readonly string[]): string[] => argv.slice(0, 16).map((word) => word.slice(0, 120));
