/**
 * Tells listeners once for each run of a box that it has ended. The engine's event stream is quick; a look every few
 * seconds finds ends that it did not tell, and a broken stream is opened again as long as there is a listener.
 */
import type { Readable } from "node:stream";
import type Docker from "dockerode";
import type { RuntimeStatus } from "../../../ports/runtime.ts";
import { type Installation, label, labelFilter } from "./labels.ts";

const lookMs = 2_000;

export interface EndWatchOptions {
  readonly client: Docker;
  readonly installation: Installation;
  /** Whether this run of the box lives. An engine that does not answer says nothing, and throws. */
  readonly isAlive: (id: string, box: string) => Promise<boolean>;
  /** How the run ended, when nothing of it is left. An engine that does not answer says nothing, and throws. */
  readonly settle: (box: string, id: string) => Promise<RuntimeStatus>;
}

export class EndWatch {
  readonly #options: EndWatchOptions;
  /** Box to the container of its current run. */
  readonly #watched = new Map<string, string>();
  readonly #listeners = new Set<(status: RuntimeStatus) => void>();
  readonly #timer: NodeJS.Timeout;
  #stream: { destroy(): void } | undefined;
  #isOpening = false;
  #isClosed = false;

  constructor(options: EndWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#look(), lookMs);
    this.#timer.unref();
  }

  listen(listener: (status: RuntimeStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watch(box: string, id: string): void {
    this.#watched.set(box, id);
    void this.#open();
  }

  /** The run is over. The first report counts; later ones change nothing. */
  async ended(box: string, id?: string): Promise<void> {
    const watched = this.#watched.get(box);
    if (watched === undefined || (id !== undefined && id !== watched)) return;
    this.#watched.delete(box);
    const status = await this.#options.settle(box, watched).catch((error: unknown) => {
      // The engine went away with the news half told: the next look that it answers tells the rest.
      if (!this.#watched.has(box)) this.#watched.set(box, watched);
      throw error;
    });
    for (const listener of this.#listeners) listener(status);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#stream?.destroy();
    this.#watched.clear();
    this.#listeners.clear();
  }

  async #open(): Promise<void> {
    if (this.#stream !== undefined || this.#isOpening || this.#isClosed) return;
    this.#isOpening = true;
    const { client, installation } = this.#options;
    const filters = JSON.stringify({ type: ["container"], label: labelFilter(installation) });
    try {
      const stream = (await client.getEvents({ filters })) as Readable;
      if (this.#isClosed) {
        stream.destroy();
        return;
      }
      this.#stream = stream;
      let rest = "";
      stream.on("data", (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) this.#hear(line);
      });
      const lost = (): void => {
        if (this.#stream === stream) this.#stream = undefined;
      };
      stream.on("error", lost).on("end", lost).on("close", lost);
    } catch {
      // The engine is away; the next look tries again.
    } finally {
      this.#isOpening = false;
    }
  }

  #hear(line: string): void {
    const event = parseEvent(line);
    if (event !== undefined) void this.ended(event.box, event.id).catch(() => undefined);
  }

  async #look(): Promise<void> {
    if (this.#watched.size === 0 || this.#isClosed) return;
    await this.#open();
    for (const [box, id] of this.#watched) {
      const isAlive = await this.#options.isAlive(id, box).catch(() => true);
      if (!isAlive) await this.ended(box, id).catch(() => undefined);
    }
  }
}

/** Docker says `die`, Podman said `died` once. */
function parseEvent(line: string): { readonly box: string; readonly id: string } | undefined {
  try {
    const event = JSON.parse(line) as {
      Action?: string;
      status?: string;
      Actor?: { ID?: string; Attributes?: Record<string, string> };
    };
    const action = event.Action ?? event.status;
    const [id, box] = [event.Actor?.ID, event.Actor?.Attributes?.[label.box]];
    return (action === "die" || action === "died") && id && box ? { box, id } : undefined;
  } catch {
    return undefined;
  }
}
