import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { FileEntry } from "../../../src/contract/api/schemas/files-and-ports.ts";
import { client } from "../api/client.ts";
import { Bytes } from "../parts/amount.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { collect, contentOf, type FileContent, imageBytes, imageType, shownBytes } from "./file-content.ts";
import { nameOf } from "./box-path.ts";
import { TextView } from "./text-view.tsx";
import { AgentBoxError } from "../../../src/base/errors.ts";

/** All of it is in the page's memory once; larger things are for the command line. */
const maxDownloadBytes = 256 * 2 ** 20;

/** SECURITY: fetched with the page's key and saved as bytes: a link could carry no key, and a browser never opens it as a page. */
async function download(box: string, path: string): Promise<void> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of await client.readFile(box, { path })) {
    size += chunk.length;
    if (size > maxDownloadBytes) {
      throw new AgentBoxError("input.too_large", "The file is too large to be downloaded here.", {
        hint: `Copy it: agentbox cp ${box}:/workspace/${path} .`,
      });
    }
    parts.push(chunk as Uint8Array<ArrayBuffer>);
  }
  const url = URL.createObjectURL(new Blob(parts, { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = nameOf(path);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

interface FileViewProps {
  box: string;
  path: string;
  /** As the directory says; absent while that is on its way. */
  entry: FileEntry | undefined;
}

async function read(box: string, path: string, signal: AbortSignal): Promise<FileContent> {
  const first = await collect(await client.readFile(box, { path, limit: shownBytes }, signal), shownBytes);
  // A picture is of no use in part.
  if (imageType(first) === undefined || first.length < shownBytes) return contentOf(first);
  return contentOf(
    await collect(await client.readFile(box, { path, limit: imageBytes }, signal), imageBytes),
  );
}

export function FileView({ box, path, entry }: FileViewProps) {
  const { data, error } = useQuery({
    // Apart from what events of the box make stale: reading is an event of its own.
    queryKey: ["files-and-services", box, "file", path],
    queryFn: ({ signal }) => read(box, path, signal),
  });
  const save = useAction(() => download(box, path));
  const isCut = data?.kind === "text" && entry !== undefined && entry.size > shownBytes;
  return (
    <section className="files-view" aria-label={`File ${nameOf(path)}`}>
      <header className="files-view-head">
        <h2 className="mono">
          <Visible text={nameOf(path)} />
        </h2>
        {entry ? <Bytes n={entry.size} /> : null}
        <Button isBusy={save.isBusy} onClick={() => save.run()}>
          <Icon name="download" /> Download
        </Button>
      </header>
      {isCut ? (
        <Note tone="warn">Only the first megabyte is shown. Download the file to see all of it.</Note>
      ) : null}
      {error ? <ErrorNote error={error} /> : null}
      {data === undefined && !error ? <Skeleton height={320} label="Reading the file" /> : null}
      {data === undefined ? null : <Content path={path} content={data} />}
    </section>
  );
}

function Content({ path, content }: { path: string; content: FileContent }) {
  if (content.kind === "image") return <Picture name={nameOf(path)} content={content} />;
  if (content.kind === "binary")
    return (
      <Empty title="This file is not text">
        <p>
          Download it to open it elsewhere. It comes from the box: be as careful as with any other download.
        </p>
      </Empty>
    );
  if (content.lines.length === 0) return <Empty title="This file is empty" />;
  return <TextView key={path} path={path} lines={content.lines} />;
}

/** SECURITY: an address of the page's own memory, with a type of ours: nothing of the box decides what it is taken for. */
function Picture({ name, content }: { name: string; content: Extract<FileContent, { kind: "image" }> }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([content.bytes], { type: content.type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  return <div className="files-picture">{url === undefined ? null : <img src={url} alt={name} />}</div>;
}
