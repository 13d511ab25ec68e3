import { printable } from "../../base/printable.ts";
import type { RunCommand } from "../command.ts";
import { getNamedBox } from "../boxes/named-box.ts";
import { renderTable } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const { box } = getNamedBox(context, args.positionals);
  const ports = await (await context.connect()).listPorts(box);
  if (screen.isJson) screen.printJson({ ports });
  else if (ports.length === 0) screen.print(`Nothing in ${box} listens on a port.`);
  else {
    const rows = ports.map(({ port, address, program = "-", service = "-" }) => [
      String(port),
      printable(address),
      printable(program),
      printable(service),
    ]);
    screen.print(renderTable([["PORT", "ADDRESS", "PROGRAM", "SERVICE"].map(screen.style.dim), ...rows]));
  }
  return 0;
};
