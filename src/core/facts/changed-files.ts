/**
 * How many files each box has changed: as its newest checkpoint says, or what its agent said since, where that is more.
 * Read once from the store; after that the event log keeps it right, so a list costs no query.
 */
import type { Box } from "../../contract/box.ts";
import type { BoxEvent } from "../../contract/events.ts";
import type { WorkState } from "../../contract/review/work-state.ts";
import type { Checkpoint } from "../../contract/review/checkpoint.ts";
import type { Store } from "../../ports/store.ts";

/** SECURITY: an agent can name new paths for ever; beyond these it has changed "many" anyway. */
const maxPaths = 1_000;
const maxPathLength = 256;

export interface ChangedLines {
  readonly addedLines: number;
  readonly deletedLines: number;
}

interface Changes {
  files: number | undefined;
  /** As the newest checkpoint says; what the agent has named since is not counted in lines. */
  lines: ChangedLines | undefined;
  /** Whether some of its work was merged. */
  isMerged: boolean;
  /** Paths the agent has named since the newest checkpoint. */
  readonly named: Set<string>;
}

export class ChangedFiles {
  readonly #store: () => Pick<Store, "listReview">;
  readonly #boxes = new Map<string, Changes>();
  #loading: Promise<void> | undefined;
  /** Events during the reading of the store are handled afterwards. */
  #missed: BoxEvent[] | undefined;

  constructor(store: () => Pick<Store, "listReview">) {
    this.#store = store;
  }

  /** Resolves when `find` knows what the store knows. */
  ready(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** Undefined when it is not known. */
  find({ incarnation }: Pick<Box, "incarnation">): number | undefined {
    const changes = this.#boxes.get(incarnation);
    if (!changes) return undefined;
    const { files, named } = changes;
    return named.size === 0 ? files : Math.max(files ?? 0, named.size);
  }

  findLines({ incarnation }: Pick<Box, "incarnation">): Partial<ChangedLines> {
    const { lines, files = 0 } = this.#boxes.get(incarnation) ?? {};
    return files === 0 ? {} : (lines ?? {});
  }

  /** The state of its work; undefined when it is not known. */
  work(box: Pick<Box, "incarnation">): WorkState | undefined {
    const files = this.find(box);
    if (files === undefined) return undefined;
    if (files > 0) return "unmerged";
    return this.#boxes.get(box.incarnation)?.isMerged === true ? "merged" : "clean";
  }

  noticed(event: BoxEvent): void {
    if (this.#missed) this.#missed.push(event);
    else this.#apply(event);
  }

  #apply({ type, incarnation, data }: BoxEvent): void {
    // Which of the earlier merges counts again is a question for the store.
    if (type === "work.undone") this.#loading = undefined;
    if (incarnation === undefined) return;
    if (type === "box.removed") this.#boxes.delete(incarnation);
    else if (type === "work.merged") {
      this.#set(incarnation, 0);
      this.#of(incarnation).isMerged = true;
    } else if (type === "box.restored") this.#set(incarnation, Number(data["files"] ?? 0));
    else if (type === "checkpoint.taken")
      this.#set(incarnation, data["reason"] === "base" ? 0 : Number(data["files"] ?? 0), {
        addedLines: Number(data["added"] ?? 0),
        deletedLines: Number(data["deleted"] ?? 0),
      });
    else if (type === "agent.event" && data["kind"] === "file_changed") {
      const { named } = this.#of(incarnation);
      if (named.size < maxPaths) named.add(String(data["path"]).slice(0, maxPathLength));
    }
  }

  #set(incarnation: string, files: number, lines?: ChangedLines): void {
    const changes = this.#of(incarnation);
    changes.files = files;
    changes.lines = lines;
    changes.named.clear();
  }

  #of(incarnation: string): Changes {
    let changes = this.#boxes.get(incarnation);
    if (!changes) {
      changes = { files: undefined, lines: undefined, isMerged: false, named: new Set() };
      this.#boxes.set(incarnation, changes);
    }
    return changes;
  }

  async #load(): Promise<void> {
    this.#missed ??= [];
    try {
      const store = this.#store();
      const [checkpoints, merges] = await Promise.all([
        store.listReview("checkpoint", {}),
        store.listReview("merge", {}),
      ]);
      const newest = new Map<string, Checkpoint>();
      for (const checkpoint of checkpoints) {
        const known = newest.get(checkpoint.incarnation);
        if (!known || known.number < checkpoint.number) newest.set(checkpoint.incarnation, checkpoint);
      }
      const valid = merges.filter(({ isUndone }) => !isUndone);
      const merged = new Set(valid.map(({ commit }) => commit));
      const mergedLives = new Set(valid.map(({ incarnation }) => incarnation));
      for (const { incarnation, commit, reason, totals } of newest.values())
        this.#set(incarnation, reason === "base" || merged.has(commit) ? 0 : totals.files, {
          addedLines: totals.added,
          deletedLines: totals.deleted,
        });
      for (const [incarnation, changes] of this.#boxes) changes.isMerged = mergedLives.has(incarnation);
    } finally {
      const missed = this.#missed ?? [];
      this.#missed = undefined;
      for (const event of missed) this.#apply(event);
    }
  }
}
