import { Button } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { WhatIsLost } from "../removal/what-is-lost.tsx";
import { Icon } from "../parts/icon.tsx";
import type { BulkAction } from "./use-bulk.ts";

interface BulkBarProps {
  readonly names: readonly string[];
  readonly isBusy: boolean;
  readonly onRun: (action: BulkAction) => unknown;
  readonly onClear: () => void;
}

export const countOf = (names: readonly string[]): string =>
  names.length === 1 ? (names[0] ?? "") : `${names.length} boxes`;

/** The actions on the selected boxes. */
export function BulkBar({ names, isBusy, onRun, onClear }: BulkBarProps) {
  if (names.length === 0) return null;
  return (
    <section className="fleet-bulk" aria-label="Selected boxes">
      <strong aria-live="polite">{names.length} selected</strong>
      <Button isBusy={isBusy} onClick={() => onRun("start")}>
        <Icon name="play" />
        Start
      </Button>
      <Button isBusy={isBusy} onClick={() => onRun("stop")}>
        <Icon name="stop" />
        Stop
      </Button>
      <Button isBusy={isBusy} onClick={() => onRun("restart")}>
        <Icon name="restart" />
        Restart
      </Button>
      <ConfirmButton
        kind="danger"
        isBusy={isBusy}
        question={`Remove ${countOf(names)}?`}
        confirm="Remove"
        details={<WhatIsLost names={names} />}
        onConfirm={() => onRun("remove")}
      >
        <Icon name="trash" />
        Remove
      </ConfirmButton>
      <Button kind="quiet" onClick={onClear}>
        Clear
      </Button>
    </section>
  );
}
