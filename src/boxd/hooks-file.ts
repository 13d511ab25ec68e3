import { type FSWatcher, constants, watch } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { OutputRing } from "./output/output-ring.ts";

const readBytes = 64 * 1024;
/** A file this long is emptied once it has been read, so that hooks of weeks do not fill the box's disk. */
const defaultMaxBytes = 64 * 2 ** 20;

/**
 * The file agents' hooks append to, as a source that the host can follow. A file and not a socket, because a hook is
 * a shell command and every system has `cat`.
 */
export class HooksFile {
  readonly ring = new OutputRing();
  readonly #path: string;
  readonly #maxBytes: number;
  #file: FileHandle | undefined;
  #watcher: FSWatcher | undefined;
  #position = 0;
  #isReading = false;
  #isDirty = false;

  constructor(path: string, maxBytes = defaultMaxBytes) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  /** Reports of an earlier run are not told again. */
  async open(): Promise<void> {
    if (this.#file) return;
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    this.#file = await open(this.#path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    this.#position = (await this.#file.stat()).size;
    this.#watcher = watch(this.#path, () => void this.#read());
    this.#watcher.on("error", () => undefined);
  }

  close(): void {
    this.#watcher?.close();
    void this.#file?.close().catch(() => undefined);
  }

  async #read(): Promise<void> {
    this.#isDirty = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isDirty) {
        this.#isDirty = false;
        await this.#readNew();
      }
    } catch {
      // The box may do with its file what it likes; then there are no hooks.
    } finally {
      this.#isReading = false;
    }
  }

  async #readNew(): Promise<void> {
    const file = this.#file!;
    const { size } = await file.stat();
    if (size < this.#position) this.#position = 0;
    while (this.#position < size) {
      const { bytesRead, buffer } = await file.read(
        Buffer.allocUnsafe(readBytes),
        0,
        readBytes,
        this.#position,
      );
      if (bytesRead === 0) break;
      this.#position += bytesRead;
      this.ring.append(buffer.subarray(0, bytesRead), 1);
    }
    if (this.#position < this.#maxBytes) return;
    await file.truncate(0);
    this.#position = 0;
  }
}
