/** The workspace of a box: look, read, download, upload. The box itself reads and writes; the host opens nothing of it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { KeptAt } from "../../../src/contract/api/schemas/files-and-ports.ts";
import { client } from "../api/client.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { useBox, useBoxName } from "../box/use-box.ts";
import { Ago } from "../parts/amount.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { FileList } from "./file-list.tsx";
import { FileView } from "./file-view.tsx";
import { crumbsOf, dirOf, joinPath } from "./box-path.ts";
import { Upload } from "./upload.tsx";

/** No event tells of files that come and go in a box. */
const everyMs = 10_000;

export function FilesPage() {
  const box = useBoxName();
  const { file, dir = dirOf(file ?? "") } = useSearch({ strict: false });
  const phase = useBox(box).data?.box.state.phase;
  const isWorker = useMayOn(box, "work");
  const mayWrite = useMay("work") && isWorker;
  const isRunning = phase === "running";
  // Without a box that runs, the last checkpoint is read.
  const isStarting = phase === "starting" || phase === "creating";
  const { data, error } = useQuery({
    queryKey: ["files-and-services", box, "tree", dir],
    queryFn: () => client.listFiles(box, { path: dir }),
    enabled: phase !== undefined && !isStarting,
    refetchInterval: isRunning ? everyMs : false,
  });
  const all = useQueryClient();
  const again = useAction(() => all.invalidateQueries({ queryKey: ["files-and-services", box] }));
  if (isStarting) return <Empty title="The box is starting" />;
  const names = new Set((data?.entries ?? []).map(({ name }) => name));
  const hidden = data === undefined ? 0 : data.total - data.entries.length;
  return (
    <div className="files-and-services">
      <div className="files-bar">
        <Crumbs box={box} dir={dir} />
        <div className="parts-actions">
          <Button isBusy={again.isBusy} onClick={() => again.run()}>
            <Icon name="restart" /> Refresh
          </Button>
          {mayWrite && isRunning ? <Upload box={box} dir={dir} names={names} /> : null}
        </div>
      </div>
      {data?.keptAt === undefined ? null : <KeptNote keptAt={data.keptAt} />}
      <div className={file === undefined ? "files-panes" : "files-panes files-panes-two"}>
        <div className="files-pane">
          {error ? <ErrorNote error={error} /> : null}
          {data === undefined && !error ? <Skeleton height={320} label="Loading the files" /> : null}
          {data?.entries.length === 0 && dir === "" ? <Empty title="The workspace is empty" /> : null}
          {data && (data.entries.length > 0 || dir !== "") ? (
            <FileList box={box} dir={dir} entries={data.entries} current={file} />
          ) : null}
          {hidden > 0 ? (
            <Note tone="warn">
              {hidden.toLocaleString("en-US")} more are not shown. Use the terminal for them.
            </Note>
          ) : null}
        </div>
        {file === undefined ? null : (
          <FileView
            key={file}
            box={box}
            path={file}
            entry={data?.entries.find(({ name }) => joinPath(dir, name) === file)}
          />
        )}
      </div>
    </div>
  );
}

function KeptNote({ keptAt: { checkpoint, atMs } }: { keptAt: KeptAt }) {
  if (atMs === undefined)
    return <Note>The box does not run and has no checkpoint. These are the files it began with.</Note>;
  return (
    <Note>
      From checkpoint {checkpoint}, <Ago atMs={atMs} />. The box does not run, so you can read and not write;
      files that git ignores are not in a checkpoint.
    </Note>
  );
}

function Crumbs({ box, dir }: { box: string; dir: string }) {
  return (
    <nav aria-label="Directories" className="files-crumbs mono">
      {crumbsOf(dir).map(({ name, path }, index) => (
        <span key={path}>
          {index === 0 ? null : <span className="quiet"> / </span>}
          <Link to="/box/$name/files" params={{ name: box }} search={{ dir: path }}>
            <Visible text={name} />
          </Link>
        </span>
      ))}
    </nav>
  );
}
