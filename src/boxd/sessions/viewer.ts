import { decodeJson, type Frame, frameKind } from "../../contract/link/codec.ts";
import type { AttachOp, StreamInput } from "../../contract/link/messages.ts";
import { type Connection, dataKind } from "../connection.ts";
import type { OutputRing } from "../output/output-ring.ts";
import { signalName } from "../programs/process-group.ts";
import { RingReader } from "../output/ring-reader.ts";
import type { TerminalSize } from "../programs/terminal-program.ts";

export interface ViewerSession {
  /** False when the program is slow to read. */
  input(chunk: Uint8Array): boolean;
  endInput(): void;
  signal(signal: NodeJS.Signals): void;
  resize(cols: number, rows: number): void;
  /** The exact screen at the moment of the call; undefined for a session without a terminal. */
  readonly screen: (() => Promise<string>) | undefined;
  readonly size: () => TerminalSize;
  progressed(): void;
  finished(): void;
  closed(): void;
}

/** Clears the viewer's terminal before it gets a fresh screen. */
const reset = "\u001bc";

/** One person looking at a session: the screen first, then every byte; a fresh screen after falling behind. */
export class Viewer {
  /** Whether questions of the program may be left to this viewer's terminal. */
  readonly answers: boolean;
  readonly #connection: Connection;
  readonly #session: ViewerSession;
  readonly #ring: OutputRing;
  readonly #reader: RingReader;
  #isShowing = false;
  #sentSize: TerminalSize | undefined;

  constructor(connection: Connection, ring: OutputRing, op: AttachOp, session: ViewerSession) {
    this.answers = !op.readOnly && op.answers !== false;
    this.#connection = connection;
    this.#session = session;
    this.#ring = ring;
    this.#reader = new RingReader(ring, connection, ring.oldest, {
      missed: (offset) => this.#missed(offset),
      progressed: () => session.progressed(),
      finished: () => session.finished(),
    });
    connection.onFrame((frame) => op.readOnly || this.#receive(frame));
    connection.onClose(() => session.closed());
  }

  get lagBytes(): number {
    return this.#reader.lagBytes;
  }

  begin(): void {
    if (this.#session.screen) this.#show("");
    else this.#reader.pump();
  }

  /** The terminal has another size now. */
  sized(): void {
    if (this.#session.screen && !this.#isShowing) this.#tell(this.#session.size());
  }

  resumeInput(): void {
    this.#connection.resume();
  }

  #missed(offset: number): boolean {
    if (this.#session.screen) {
      this.#show(reset);
      return false;
    }
    this.#connection.send({ type: "offset", offset });
    return true;
  }

  /** Bytes up to `offset` are in the screen, those after it follow it: none is lost or seen twice. */
  #show(prefix: string): void {
    const offset = this.#ring.total;
    const size = this.#session.size();
    this.#reader.hold();
    this.#isShowing = true;
    void this.#session.screen!().then((screen) => {
      // The screen is of the size at its moment; a later one is told after it.
      this.#tell(size);
      this.#connection.write(dataKind(1), Buffer.from(prefix + screen));
      this.#isShowing = false;
      this.sized();
      this.#reader.moveTo(offset);
    });
  }

  #tell(size: TerminalSize): void {
    if (this.#sentSize?.cols === size.cols && this.#sentSize.rows === size.rows) return;
    this.#sentSize = size;
    this.#connection.send({ type: "size", ...size });
  }

  #receive(frame: Frame): void {
    if (frame.kind === frameKind.data) {
      if (!this.#session.input(frame.payload)) this.#connection.pause();
    } else if (frame.kind === frameKind.eof) {
      this.#session.endInput();
    } else if (frame.kind === frameKind.json) {
      const message = decodeJson(frame.payload) as StreamInput;
      if (message.type === "resize") this.#session.resize(message.cols, message.rows);
      const signal = message.type === "signal" ? signalName(message.signal) : undefined;
      if (signal) this.#session.signal(signal);
    }
  }
}
