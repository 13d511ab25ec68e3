/**
 * Reads many objects with one git, which ends by itself after a while without requests. A review asks for thousands of
 * files, and starting a process takes longer than reading one.
 */
import type { GitProcess } from "../../host/git-process.ts";
import { type ReviewGit, reviewFailed } from "./review-git.ts";

export interface BatchObject {
  readonly type: string;
  readonly size: number;
  /** Empty unless contents were asked for. */
  readonly bytes: Buffer;
}

interface Waiting {
  readonly resolve: (object: BatchObject | undefined) => void;
  readonly reject: (error: unknown) => void;
}

const idleMs = 500;

export class ObjectBatch {
  readonly #git: ReviewGit;
  readonly #isContents: boolean;
  #running: BatchProcess | undefined;

  constructor(git: ReviewGit, options: { readonly isContents: boolean }) {
    this.#git = git;
    this.#isContents = options.isContents;
  }

  /** Undefined when there is no such object. `id` is an id: a name could have a line feed in it. */
  ask(id: string): Promise<BatchObject | undefined> {
    if (this.#running === undefined || this.#running.isOver || this.#running.isOld) {
      this.#running?.end();
      this.#running = new BatchProcess(this.#git, this.#isContents);
    }
    return this.#running.ask(id);
  }
}

class BatchProcess {
  readonly #process: GitProcess;
  readonly #isContents: boolean;
  readonly #waiting: Waiting[] = [];
  #chunks: Buffer[] = [];
  #buffered = 0;
  /** How much must have arrived before it is worth looking again. */
  #needed = 1;
  #timer: NodeJS.Timeout | undefined;
  readonly #oldAtMs: number;
  isOver = false;

  constructor(git: ReviewGit, isContents: boolean) {
    this.#oldAtMs = performance.now() + git.limits.readTimeoutMs / 2;
    this.#isContents = isContents;
    this.#process = git.start(["cat-file", isContents ? "--batch" : "--batch-check"]);
    this.#process.stdout.on("data", (chunk: Buffer) => this.#onData(chunk));
    void this.#process.ended.then((end) => {
      this.isOver = true;
      clearTimeout(this.#timer);
      for (const { reject } of this.#waiting.splice(0)) reject(reviewFailed("cat-file", end));
    });
  }

  /** Time for the next one, before the limit ends it with questions open. */
  get isOld(): boolean {
    return performance.now() > this.#oldAtMs;
  }

  /** Answers what was asked, and ends. */
  end(): void {
    this.isOver = true;
    this.#process.stdin!.end();
  }

  ask(id: string): Promise<BatchObject | undefined> {
    clearTimeout(this.#timer);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#process.stdin!.write(`${id}\n`);
    });
  }

  #onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    if (this.#buffered < this.#needed) return;
    let bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    for (let answer = this.#read(bytes); answer !== undefined; answer = this.#read(bytes)) {
      this.#waiting.shift()?.resolve(answer.object);
      bytes = bytes.subarray(answer.length);
    }
    this.#chunks = bytes.length === 0 ? [] : [bytes];
    this.#buffered = bytes.length;
    if (this.#waiting.length === 0) this.#endWhenIdle();
  }

  /** One whole answer from the beginning of `bytes`; undefined when it is not all there yet. */
  #read(bytes: Buffer): { readonly length: number; readonly object: BatchObject | undefined } | undefined {
    this.#needed = bytes.length + 1;
    const end = bytes.indexOf("\n");
    if (end === -1) return undefined;
    const [, type, size] = bytes.toString("latin1", 0, end).split(" ");
    if (type === undefined || size === undefined) return { length: end + 1, object: undefined };
    const object = { type, size: Number(size), bytes: Buffer.alloc(0) };
    if (!this.#isContents) return { length: end + 1, object };
    const start = end + 1;
    this.#needed = start + object.size + 1;
    if (bytes.length < this.#needed) return undefined;
    // A copy, so that a small file does not keep everything alive that came with it.
    const content = Buffer.from(bytes.subarray(start, start + object.size));
    return { length: this.#needed, object: { ...object, bytes: content } };
  }

  #endWhenIdle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), idleMs);
    this.#timer.unref();
  }
}
