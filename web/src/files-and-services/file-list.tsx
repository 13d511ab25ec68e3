import { Link } from "@tanstack/react-router";
import type { FileEntry } from "../../../src/contract/api/schemas/files-and-ports.ts";
import { Ago, Bytes } from "../parts/amount.tsx";
import { Icon } from "../parts/icon.tsx";
import { Visible } from "../parts/visible.tsx";
import { dirOf, joinPath } from "./box-path.ts";
import { TableScroll } from "../parts/table-scroll.tsx";

interface FileListProps {
  box: string;
  dir: string;
  entries: readonly FileEntry[];
  /** The one whose contents are shown. */
  current: string | undefined;
}

const isDir = ({ kind }: FileEntry): boolean => kind === "dir";

/** Directories first, as people look for them. */
const sorted = (entries: readonly FileEntry[]): readonly FileEntry[] =>
  entries.toSorted((a, b) => Number(isDir(b)) - Number(isDir(a)) || a.name.localeCompare(b.name, "en"));

export function FileList({ box, dir, entries, current }: FileListProps) {
  return (
    <TableScroll>
      <table className="table files-files">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" className="number">
              Size
            </th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {dir === "" ? null : (
            <tr>
              <td colSpan={3}>
                <Link to="/box/$name/files" params={{ name: box }} search={{ dir: dirOf(dir) }}>
                  <Icon name="folder" /> ..
                </Link>
              </td>
            </tr>
          )}
          {sorted(entries).map((entry) => {
            const path = joinPath(dir, entry.name);
            return (
              <tr key={entry.name} aria-current={path === current ? "true" : undefined}>
                <td className="files-name">
                  <Name box={box} dir={dir} path={path} entry={entry} />
                </td>
                <td className="number">{entry.kind === "file" ? <Bytes n={entry.size} /> : null}</td>
                <td className="small quiet">
                  {entry.mtimeMs === undefined ? null : <Ago atMs={entry.mtimeMs} />}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </TableScroll>
  );
}

const icons = { dir: "folder", file: "file", symlink: "link" } as const;

function Name({ box, dir, path, entry }: { box: string; dir: string; path: string; entry: FileEntry }) {
  const name = <Visible text={entry.name} />;
  if (entry.kind === "other") return <span className="quiet">{name} (no file)</span>;
  const search = entry.kind === "dir" ? { dir: path } : { dir, file: path };
  return (
    <Link to="/box/$name/files" params={{ name: box }} search={search}>
      <Icon name={icons[entry.kind]} /> {name}
      {entry.target === undefined ? null : (
        <span className="quiet">
          → <Visible text={entry.target} />
        </span>
      )}
    </Link>
  );
}
