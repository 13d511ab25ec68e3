import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SearchInput, Switch } from "../../parts/field.tsx";
import { KeyList, type KeyWords } from "../../parts/key-list.tsx";
import type { useLayout } from "./use-layout.ts";

const keys = [
  ["j / k", "next and previous file"],
  ["↓ / ↑", "next and previous line"],
  ["Shift ↓ / ↑", "choose several lines"],
  ["n / p", "next and previous danger"],
  ["v", "mark the file as viewed, and go to the next one"],
  ["c", "comment on the lines, or on the file"],
  ["s", "side by side, or one below the other"],
  ["f", "show or hide the list of files"],
  ["m", "merge"],
  ["?", "this help"],
] as const;

export function ReviewHelp({
  isOpen,
  onClose,
  more = [],
}: {
  isOpen: boolean;
  onClose: () => void;
  more?: KeyWords;
}) {
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
      <KeyList words={[...keys, ...more]} />
    </Dialog>
  );
}

interface DiffToolbarProps {
  filter: string;
  onFilter: (filter: string) => void;
  viewed: number;
  files: number;
  layout: ReturnType<typeof useLayout>;
  onHelp: () => void;
}

/** Which part of the diff is shown, and how. */
export function DiffToolbar({ filter, onFilter, viewed, files, layout, onHelp }: DiffToolbarProps) {
  return (
    <div className="parts-row review-bar">
      <Button
        aria-expanded={layout.isListOpen}
        onClick={() => layout.change({ isListOpen: !layout.isListOpen })}
      >
        {layout.isListOpen
          ? "Hide files"
          : `Show ${files.toLocaleString("en-US")} ${files === 1 ? "file" : "files"}`}
      </Button>
      <SearchInput label="Filter files" value={filter} onChange={({ target }) => onFilter(target.value)} />
      <output className="small quiet">
        {viewed.toLocaleString("en-US")} of {files.toLocaleString("en-US")} viewed
      </output>
      {layout.isListOpen ? (
        <Switch
          label="Folders"
          checked={layout.isTree}
          onChange={({ target }) => layout.change({ isTree: target.checked })}
        />
      ) : null}
      {layout.isNarrow ? null : (
        <Switch
          label="Side by side"
          checked={layout.isSplit}
          onChange={({ target }) => layout.change({ isSplit: target.checked })}
        />
      )}
      <Button kind="quiet" onClick={onHelp}>
        Keys
      </Button>
    </div>
  );
}
