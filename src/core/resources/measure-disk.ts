import type { BoxDisk, DiskAnswer } from "../../contract/api/schemas/storage.ts";
import type { Box } from "../../contract/box.ts";
import type { Using } from "../using.ts";

/** For everything together; what is not counted by then is reported as unknown. */
const patienceMs = 20_000;
const atOnce = 4;

/** The disk space of this installation, box by box and shared, and how much of it `prune` would free. */
export async function measureDisk(core: Using<"clock" | "storage" | "store">): Promise<DiskAnswer> {
  const { store, storage, clock } = core.ports;
  const endMs = clock.monotonicMs() + patienceMs;
  const timeoutMs = (): number => Math.max(1, Math.round(endMs - clock.monotonicMs()));
  const waiting = [...(await store.listBoxes())];
  const boxes: BoxDisk[] = [];
  const work = async (): Promise<void> => {
    for (let box = waiting.shift(); box; box = waiting.shift()) {
      const parts = await storage.measure(box.name, { timeoutMs: timeoutMs() });
      boxes.push({ name: box.name, phase: box.state.phase, canPrune: isAtRest(box), ...withTotal(parts) });
    }
  };
  const [shared] = await Promise.all([
    storage.measureShared({ timeoutMs: timeoutMs() }),
    ...Array.from({ length: atOnce }, work),
  ]);
  boxes.sort((a, b) => b.totalBytes - a.totalBytes || a.name.localeCompare(b.name));
  const others = Object.entries(shared).map(([name, bytes]) => ({ name, bytes: bytes ?? null }));
  return {
    boxes,
    shared: others,
    totalBytes: sum([...boxes.map(({ totalBytes }) => totalBytes), ...others.map(({ bytes }) => bytes)]),
    prunableBytes: sum(boxes.filter(({ canPrune }) => canPrune).map(({ totalBytes }) => totalBytes)),
    freeBytes: await storage.freeBytes(),
  };
}

/** As `prune` sees it. */
const isAtRest = ({ state }: Box): boolean => state.phase === "stopped" || state.phase === "failed";

const sum = (parts: readonly (number | null)[]): number =>
  parts.reduce<number>((all, part) => all + (part ?? 0), 0);

function withTotal(use: Awaited<ReturnType<Using<"storage">["ports"]["storage"]["measure"]>>) {
  const bytes = {
    home: use.home ?? null,
    caches: use.caches ?? null,
    workspace: use.workspace ?? null,
    logs: use.logs ?? null,
    review: use.review ?? null,
  };
  return { bytes, totalBytes: sum([bytes.home, bytes.workspace, bytes.logs, bytes.review]) };
}
