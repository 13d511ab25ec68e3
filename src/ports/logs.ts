/** The output of sessions and services, kept on the host and bounded, so that it can be read after the box ended. */
export interface BoxLogs {
  /** How many bytes of this run have been recorded; recording goes on from here after a restart of the daemon. */
  recordedBytes(box: string, source: string): Promise<number>;
  /** `offset` is where the chunk stands in the run's output; a hole is marked in the log. */
  append(box: string, source: string, offset: number, chunk: Uint8Array): Promise<void>;
  /** The kept output, or its last lines. */
  read(
    box: string,
    source: string,
    options: { readonly tailLines?: number | undefined },
  ): Promise<Uint8Array>;
  /** The same, and from there on every chunk exactly once. */
  follow(
    box: string,
    source: string,
    options: { readonly tailLines?: number | undefined },
    listener: (chunk: Uint8Array) => void,
  ): Promise<{ readonly kept: Uint8Array; readonly stop: () => void }>;
  /** How much all logs of a box may take; beyond it the oldest go. */
  setLimit(box: string, bytes: number): void;
  /** Remembers that a session is the host's own, so that it is recorded on after a restart of the daemon. */
  addSource(box: string, source: string): Promise<void>;
  /** The sessions of this run. */
  sources(box: string): Promise<readonly string[]>;
  /** A new run counts its output from zero. The output of earlier runs stays. */
  startRun(box: string): Promise<void>;
  /**
   * Forgets a box that is being removed. Once it resolves nothing is written until a new run starts, so the files can go
   * with their directory, and a box of the same name does not begin with lines of this one.
   */
  forget(box: string): Promise<void>;
}
