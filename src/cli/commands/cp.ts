import { formatBytes } from "../../base/bytes.ts";
import { printable } from "../../base/printable.ts";
import { planCopy } from "../boxes/box-path.ts";
import type { RunCommand } from "../command.ts";
import { copyIn, copyOut } from "../boxes/copy-files.ts";
import { withProgress } from "../render/progress.ts";
import { plural } from "../render/table.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const [source, destination] = args.positionals;
  const plan = planCopy(source!, destination!);
  const client = await connect();
  const copied = await withProgress(screen, `Copying ${printable(source!)}`, () =>
    plan.direction === "out" ? copyOut(client, plan) : copyIn(client, plan),
  );
  for (const { path, reason } of copied.skipped) {
    screen.note(`${screen.errorStyle.yellow("skipped:")} ${printable(path)}: ${printable(reason)}`);
  }
  if (screen.isJson) screen.printJson(copied);
  else screen.print(`copied ${plural(copied.entries, "entry", "entries")}, ${formatBytes(copied.bytes)}`);
  return 0;
};
