import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { RunCommand } from "../command.ts";
import { renderCompose } from "../render/compose.ts";

export const run: RunCommand = async ({ args, screen, cwd, connect }) => {
  const box = await (await connect()).exportBox(args.positionals[0]!);
  const text = renderCompose(box);
  const output = args.text("output");
  if (output === undefined) {
    if (screen.isJson) screen.printJson({ compose: text });
    else screen.print(text.trimEnd());
    return 0;
  }
  const file = resolve(cwd, output);
  await write(file, text, args.isSet("force"));
  if (screen.isJson) screen.printJson({ file });
  else
    screen.print(
      `Wrote ${printable(file)}. Next: docker compose -f ${printable(output)} run --rm ${box.box}`,
    );
  return 0;
};

/** SECURITY: writes a new file by default, so that a link in the repository cannot choose the file that is overwritten. */
async function write(file: string, text: string, isForced: boolean): Promise<void> {
  try {
    await writeFile(file, text, { flag: isForced ? "w" : "wx", mode: 0o644 });
  } catch (error) {
    const isThere = (error as { code?: unknown }).code === "EEXIST";
    if (!isThere) throw error;
    throw new AgentBoxError("file.exists", `${printable(file)} exists already.`, {
      hint: "Choose another name, or replace it with --force.",
    });
  }
}
