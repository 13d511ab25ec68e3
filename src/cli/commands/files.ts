import { formatBytes } from "../../base/bytes.ts";
import { isAgentBoxError } from "../../base/errors.ts";
import { printable, printableLines } from "../../base/printable.ts";
import type { FileEntry, KeptAt } from "../../contract/api/schemas/files-and-ports.ts";
import { getNamedBox } from "../boxes/named-box.ts";
import type { RunCommand } from "../command.ts";
import type { Screen } from "../render/screen.ts";
import type { Style } from "../render/style.ts";
import { renderTable } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const [, path = ""] = args.positionals;
  const { box } = getNamedBox(context, args.positionals, args.positionals.length > 1 ? 1 : 0);
  const client = await context.connect();
  try {
    const { entries, total, keptAt } = await client.listFiles(box, { path });
    if (screen.isJson) screen.printJson({ entries, total, keptAt });
    else if (entries.length === 0) screen.print("The directory is empty.");
    else screen.print(renderFiles(entries, screen.style));
    if (total > entries.length) screen.note(`${total - entries.length} more are not shown.`);
    if (keptAt !== undefined) screen.note(keptText(keptAt));
  } catch (error) {
    // It is a file.
    const isFile = isAgentBoxError(error, "file.exists") || isAgentBoxError(error, "file.not_found");
    if (path === "" || !isFile) throw error;
    await printFile(screen, await client.readFile(box, { path }));
  }
  return 0;
};

/** SECURITY: a terminal shows what controls it has in visible form; a pipe gets the bytes as they are. */
async function printFile(screen: Screen, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const { stdout } = screen.streams;
  const decoder = new TextDecoder();
  for await (const chunk of chunks)
    stdout.write(stdout.isTTY ? printableLines(decoder.decode(chunk, { stream: true })) : chunk);
}

/** SECURITY: names and targets are chosen by the box. */
const renderFiles = (entries: readonly FileEntry[], style: Style): string =>
  renderTable(
    entries.map(({ name, kind, size, target }) => [
      kind === "file" ? formatBytes(size) : style.dim(kind),
      `${printable(name)}${kind === "dir" ? "/" : ""}${target === undefined ? "" : style.dim(` -> ${printable(target)}`)}`,
    ]),
  );

const keptText = ({ checkpoint, atMs }: KeptAt): string =>
  checkpoint === undefined || atMs === undefined
    ? "The box does not run and has no checkpoint: this is what it began with."
    : `From checkpoint ${checkpoint} of ${new Date(atMs).toLocaleString("sv-SE")}: the box does not run.`;
