/** Time, as an argument. `nowMs` is the wall clock and may jump; `monotonicMs` never does. */
export interface Clock {
  nowMs(): number;
  monotonicMs(): number;
  /** Calls back after `ms`; returns the way to cancel. Does not keep the process alive. */
  after(ms: number, callback: () => void): () => void;
}

export interface Ids {
  /** Unguessable, for one-time stream ids and incarnations. */
  random(): string;
}
