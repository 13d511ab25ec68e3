/**
 * Lands work in a person's repository, takes it back, or writes it to a file. Everything is computed in a scratch
 * repository first; the person's is touched in one step at the end, and only if nothing of theirs is in the way. No
 * filter, driver, hook or signing program runs, no matter who configured it: an LFS pointer stays a pointer, and commits are
 * not signed.
 */
import type { Clock } from "../../base/clock.ts";
import { KeyedMutex } from "../../base/mutex.ts";
import { findRepository } from "../../host/git-repository.ts";
import type { MergeOutcome, MergeRequest, Merges } from "../../ports/merge.ts";
import { exportWork } from "./export-work.ts";
import { land } from "./landing.ts";
import { bringOver } from "./objects.ts";
import type { DaemonUser } from "./person.ts";
import { planMerge } from "./plan-merge.ts";
import { keepBranch, prepareWork } from "./prepare-work.ts";
import { previewWork, readTip } from "./preview-work.ts";
import { openTarget } from "./target.ts";
import { undoMerge } from "./undo-merge.ts";
import { takeBackUnfinished } from "./unfinished-step.ts";
import { openScratchFor } from "./worktree-scratch.ts";

export interface MergesOptions extends DaemonUser {
  readonly clock: Clock;
}

export function openMerges(options: MergesOptions): Merges {
  const turns = new KeyedMutex();

  /** One at a time for each repository: two would take each other's half-written files for the person's. */
  const inTurn = async <T>(projectDir: string, task: () => Promise<T>): Promise<T> => {
    const repository = await findRepository(projectDir);
    return await turns.run(repository?.commonDir ?? projectDir, task);
  };

  const merge = (request: MergeRequest, isReal: boolean): Promise<MergeOutcome> =>
    inTurn(request.projectDir, async () => {
      const target = await openTarget(request.projectDir, options);
      await using scratch = await openScratchFor(target, options);
      await takeBackUnfinished(scratch, target);
      const planned = await planMerge(scratch, target, request, options.clock.nowMs());
      if ("outcome" in planned) return planned;
      if (isReal) {
        await bringOver(scratch, target, planned.step.move?.new ?? planned.step.to, target.head);
        await land(scratch, target, planned.step);
      }
      return planned.merged;
    });

  return {
    plan: (request) => merge(request, false),
    apply: (request) => merge(request, true),
    tip: (projectDir, onto) => readTip(projectDir, onto, options),
    preview: (request, onto) => previewWork(request, onto, options),
    prepare: (request, onto) => prepareWork(request, onto, options),
    keepBranch: (request, onto, branch) =>
      inTurn(request.projectDir, () => keepBranch(request, { onto, branch }, options)),
    undo: (record) => inTurn(record.projectDir, () => undoMerge(record, options)),
    export: (request, format, file, exportOptions = {}) =>
      exportWork(request, format, file, { ...exportOptions, tempDir: options.tempDir }),
  };
}
