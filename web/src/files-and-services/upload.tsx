import { useRef, useState } from "react";
import { AgentBoxError } from "../../../src/base/errors.ts";
import { client } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { joinPath } from "./box-path.ts";

/** The same as the daemon's own limit, said before anything is sent. */
const maxUploadBytes = 1_500_000;

interface UploadProps {
  box: string;
  dir: string;
  /** The existing entries, by name. */
  names: ReadonlySet<string>;
}

/** Puts files of the person's into the directory; asks before one that is there is replaced. */
export function Upload({ box, dir, names }: UploadProps) {
  const input = useRef<HTMLInputElement>(null);
  const [asked, setAsked] = useState<readonly File[]>([]);
  const upload = useAction((files: readonly File[]) => sendAll(box, dir, files), {
    done: (_, files) =>
      files.length === 1 ? `Uploaded ${files[0]!.name}.` : `Uploaded ${files.length} files.`,
    invalidates: [["files-and-services", box]],
  });
  const taken = asked.filter(({ name }) => names.has(name));
  const choose = (files: readonly File[]) => {
    if (files.length === 0) return;
    if (files.some(({ name }) => names.has(name))) setAsked(files);
    else upload.run(files);
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ target }) => {
          choose([...(target.files ?? [])]);
          target.value = "";
        }}
      />
      <Button isBusy={upload.isBusy} onClick={() => input.current?.click()}>
        <Icon name="upload" /> Upload
      </Button>
      <Dialog
        title={taken.length === 1 ? "Replace this file?" : `Replace ${taken.length} files?`}
        isOpen={asked.length > 0}
        onClose={() => setAsked([])}
        footer={
          <>
            <Button onClick={() => setAsked([])}>Cancel</Button>
            <Button
              kind="danger"
              onClick={() => {
                upload.run(asked);
                setAsked([]);
              }}
            >
              Replace
            </Button>
          </>
        }
      >
        <ul className="files-names">
          {taken.map(({ name }) => (
            <li key={name} className="mono">
              <Visible text={name} />
            </li>
          ))}
        </ul>
      </Dialog>
    </>
  );
}

async function sendAll(box: string, dir: string, files: readonly File[]): Promise<void> {
  for (const file of files) {
    if (file.size > maxUploadBytes) {
      throw new AgentBoxError("input.too_large", `${file.name} is larger than 1.5 MB.`, {
        hint: `Copy it: agentbox cp FILE ${box}:/workspace/${dir}`,
      });
    }
    await client.writeFile(box, { path: joinPath(dir, file.name), content: await base64Of(file) });
  }
}

/** In pieces, because a function takes only so many arguments. */
const pieceBytes = 32_768;

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += pieceBytes)
    text += String.fromCharCode(...bytes.subarray(at, at + pieceBytes));
  return btoa(text);
}
