/** The last resort: a process limit the kernel keeps per user namespace. Processor time and memory are not limited. */
import { type Enforcement, type Limiter, nowhere } from "./limiter.ts";

const notHere: Enforcement = { isEnforced: false, by: "this host lets its user make no control group" };

/**
 * SECURITY: the limit is set inside the outer user namespace. Set before it, it would also count the other
 * processes of the same person, so that a busy desktop could keep a box from starting, and a box could not be
 * given fewer processes than its owner has. (Counted per namespace since Linux 5.14.)
 */
export function openRlimits(prlimit: string | undefined): Limiter {
  const pids: Enforcement =
    prlimit === undefined
      ? { isEnforced: false, by: "prlimit is not installed" }
      : { isEnforced: true, by: "RLIMIT_NPROC in the box's user namespace" };
  return {
    can: { cpus: notHere, memory: notHere, pids },
    prepare: async (_box, resources) =>
      prlimit === undefined || resources.pids === undefined
        ? nowhere
        : { ...nowhere, aroundBox: [prlimit, `--nproc=${resources.pids}:${resources.pids}`] },
    release: async () => undefined,
    close: async () => undefined,
    usage: async () => undefined,
    freezer: undefined,
  };
}

/** Fills the one gap this can fill in a stronger kind. */
export function withProcessLimit(limiter: Limiter, fallback: Limiter): Limiter {
  if (limiter.can.pids.isEnforced || !fallback.can.pids.isEnforced) return limiter;
  return {
    ...limiter,
    can: { ...limiter.can, pids: fallback.can.pids },
    async prepare(box, resources) {
      const [first, second] = [await limiter.prepare(box, resources), await fallback.prepare(box, resources)];
      return { ...first, aroundBox: [...first.aroundBox, ...second.aroundBox] };
    },
  };
}
