/**
 * How much the host keeps of what a box does, in bytes. SECURITY: a limit on a box's disk would be none if the box could
 * have as much as it likes written beside it, as logs, checkpoints and events.
 */
export interface KeptBytes {
  /** Logs of all its sessions and services. */
  readonly logs: number;
  /** Checkpoints that are taken by themselves; those that a person asks for may take as much again. */
  readonly checkpoints: number;
  /** What the box may cause in the event log at once; after that it is what `eventBytesPerSecond` allows. */
  readonly events: number;
}

const mib = 2 ** 20;
const unlimited: KeptBytes = { logs: 128 * mib, checkpoints: 8 * 1024 * mib, events: 64 * mib };

/** 22 MB a day: more than an agent says that never sleeps, and too little to fill a disk with. */
export const eventBytesPerSecond = 256;
/** A checkpoint takes this much besides its objects. */
export const checkpointOverhead = 16 * 1024;

export function keptBytes(diskBytes: number | undefined): KeptBytes {
  if (diskBytes === undefined) return unlimited;
  return {
    logs: Math.min(unlimited.logs, Math.max(8 * mib, diskBytes / 4)),
    // The work may be as large as the disk, and must come out of the box at least once.
    checkpoints: Math.min(unlimited.checkpoints, diskBytes),
    events: Math.min(unlimited.events, Math.max(2 * mib, diskBytes / 16)),
  };
}
