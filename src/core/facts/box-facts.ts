/**
 * The facts that the list of boxes shows besides their records, kept so that showing a thousand of them reads no file.
 */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import type { BoxEvent } from "../../contract/events.ts";
import type { WorkState } from "../../contract/review/work-state.ts";
import type { NewModelRecord } from "../../contract/model/usage.ts";
import type { Store } from "../../ports/store.ts";
import { type BranchContext, Branches } from "./branches.ts";
import { ChangedFiles } from "./changed-files.ts";
import { repositoryName } from "./repository-name.ts";
import { Spent, type SumUsage } from "./spent.ts";

/** The part of Core that facts need. */
export interface FactContext extends BranchContext {
  readonly ports: BranchContext["ports"] & { readonly store: Pick<Store, "listReview"> };
  readonly budgets: { readonly sum: SumUsage; onSettled(listener: (record: NewModelRecord) => void): void };
  onEvent(listener: (event: BoxEvent) => void): () => void;
}

export interface Facts {
  readonly repo?: string;
  readonly branch?: string;
  readonly changedFiles?: number;
  readonly addedLines?: number;
  readonly deletedLines?: number;
  readonly work?: WorkState;
  readonly tokens?: number;
  readonly costMicroUsd?: number;
}

export class BoxFacts {
  readonly #changed: ChangedFiles;
  readonly #spent: Spent;
  readonly #branches: Branches;

  constructor(core: FactContext) {
    this.#changed = new ChangedFiles(() => core.ports.store);
    this.#spent = new Spent((query, use) => core.budgets.sum(query, use));
    this.#branches = new Branches(core);
    core.budgets.onSettled((record) => this.#spent.settled(record));
    core.onEvent((event) => this.#noticed(event));
  }

  /** Resolves when `of` can answer for these boxes. Costs something only for boxes that are new here. */
  async ready(boxes: readonly Box[]): Promise<void> {
    await Promise.all([this.#changed.ready(), this.#spent.load(boxes)]);
  }

  of(box: Box): Facts {
    const repo = repositoryName(box);
    const branch = this.#branches.find(box);
    const changedFiles = this.#changed.find(box);
    const work = this.#changed.work(box);
    const { tokens = 0, microUsd = 0 } = this.#spent.find(box) ?? {};
    return {
      ...omitUndefined({ repo, branch, changedFiles, work }),
      ...this.#changed.findLines(box),
      ...(tokens === 0 ? {} : { tokens }),
      // A cost that is not known is left out: zero would say that it was free.
      ...(microUsd === 0 ? {} : { costMicroUsd: microUsd }),
    };
  }

  #noticed(event: BoxEvent): void {
    this.#changed.noticed(event);
    this.#branches.noticed(event);
    if (event.type === "box.removed" && event.incarnation !== undefined)
      this.#spent.forget(event.incarnation);
  }
}
