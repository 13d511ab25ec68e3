import { AgentBoxError } from "../../base/errors.ts";
import type { LinkStream } from "../../ports/link.ts";
import type { Using } from "../using.ts";
import { openStream } from "../exec/run-in-box.ts";
import { noteRefusal } from "./look-at-files.ts";
import { streamEnd } from "./stream-end.ts";
import { workspacePath } from "./workspace-path.ts";

const newFileMode = 0o644;

/**
 * Puts one file into the workspace; directories on the way are made. SECURITY: the box writes, from its workspace down, and
 * follows no link on the way: nothing of the box's choosing is written through, on the host or in the box.
 */
export async function writeFile(
  core: Using<"background" | "getBox" | "live" | "note" | "noteFromBox">,
  name: string,
  file: { readonly path: string; readonly content: Uint8Array },
): Promise<void> {
  const box = await core.getBox(name);
  await noteRefusal(
    core,
    box,
    "write",
    file.path,
    (async () => {
      const path = workspacePath(file.path);
      if (path === ".") throw new AgentBoxError("input.invalid", "The file has no name.");
      const { stream } = await openStream(core, name, { kind: "files.write", path: "." });
      await sendFile(stream, { path, content: file.content, mode: newFileMode });
    })(),
  );
  const facts = { op: "write", path: file.path, entries: 1, bytes: file.content.length };
  core.background("noting a copy", core.note("files.copied", box, facts));
}

/** Over a stream of the kind `files.write`, below its path. */
export async function sendFile(
  stream: LinkStream,
  { path, content, mode }: { readonly path: string; readonly content: Uint8Array; readonly mode: number },
): Promise<void> {
  const end = streamEnd(stream);
  stream.send({ type: "entry", path, kind: "file", mode, size: content.length });
  if (content.length > 0) stream.write(content);
  stream.send({ type: "end" });
  await end;
}
