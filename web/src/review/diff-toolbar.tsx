import { Button } from "../parts/button.tsx";
import { SearchInput, Switch } from "../parts/field.tsx";
import type { useLayout } from "./use-layout.ts";

interface DiffToolbarProps {
  filter: string;
  onFilter: (filter: string) => void;
  viewed: number;
  files: number;
  layout: ReturnType<typeof useLayout>;
  onHelp: () => void;
}

/** What of the diff is shown, and how. */
export function DiffToolbar({ filter, onFilter, viewed, files, layout, onHelp }: DiffToolbarProps) {
  return (
    <div className="parts-row review-bar">
      <SearchInput label="Filter files" value={filter} onChange={({ target }) => onFilter(target.value)} />
      <span className="small quiet" role="status">
        {viewed.toLocaleString("en-US")} of {files.toLocaleString("en-US")} viewed
      </span>
      <Switch
        label="Folders"
        checked={layout.isTree}
        onChange={({ target }) => layout.change({ isTree: target.checked })}
      />
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
