import { messageOf } from "../../base/errors.ts";
import type { Check } from "./check-context.ts";
import { type Problem, quote } from "../finding.ts";
import type { Path } from "../path.ts";
import { type ServiceEntry, maxServices } from "../schema.ts";

type Services = Readonly<Record<string, ServiceEntry>>;

export const checkServices: Check = ({ services = {} }) => {
  const names = Object.keys(services);
  if (names.length > maxServices) {
    const message = `There are ${names.length} services, and at most ${maxServices} are allowed.`;
    return [
      {
        code: "E014",
        path: ["services"],
        at: "key",
        message,
        hint: "Start several programs from one service.",
      },
    ];
  }
  return [...names.flatMap((name) => checkService(name, services)), ...checkCycles(services)];
};

function checkService(name: string, services: Services): Problem[] {
  const service = services[name]!;
  const path = ["services", name];
  return [
    ...checkCommand([...path, "command"], service.command),
    ...checkReady([...path, "ready"], service.ready),
    ...(service.after ?? []).flatMap((other, index): Problem[] => {
      if (Object.hasOwn(services, other)) return [];
      const message = `The service ${quote(name)} waits for ${quote(other)}, which does not exist.`;
      return [
        {
          code: "E028",
          path: [...path, "after", index],
          message,
          hint: `Known: ${Object.keys(services).join(", ")}.`,
        },
      ];
    }),
  ];
}

function checkCommand(path: Path, command: ServiceEntry["command"]): Problem[] {
  const program = typeof command === "string" ? command : (command[0] ?? "");
  if (program.trim() !== "") return [];
  return [
    {
      code: "E032",
      path,
      message: "The command is empty.",
      hint: 'Write what to run, such as "npm run dev".',
    },
  ];
}

function checkReady(path: Path, ready: ServiceEntry["ready"]): Problem[] {
  if (ready === undefined) return [];
  const kinds = (["port", "command", "log"] as const).filter((kind) => ready[kind] !== undefined);
  if (kinds.length !== 1) {
    const message = `Readiness names ${kinds.length === 0 ? "nothing to wait for" : kinds.join(" and ")}.`;
    return [{ code: "E030", path, message, hint: "Keep exactly one of port, command and log." }];
  }
  if (ready.command !== undefined) return checkCommand([...path, "command"], ready.command);
  if (ready.log === undefined) return [];
  try {
    // Compiled only; it is matched inside the box, where a slow pattern costs the box alone.
    void new RegExp(ready.log);
    return [];
  } catch (error) {
    const reason = messageOf(error).split(": ").at(-1);
    const message = `${quote(ready.log)} is not a regular expression: ${reason}.`;
    return [
      {
        code: "E031",
        path: [...path, "log"],
        message,
        hint: "Correct it, or escape special characters with \\\\.",
      },
    ];
  }
}

/** One finding per circle, at the service of it that comes first in the file. */
function checkCycles(services: Services): Problem[] {
  const problems: Problem[] = [];
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[]): void => {
    const start = trail.indexOf(name);
    if (start !== -1) {
      const circle = [...trail.slice(start), name].join(" → ");
      const message = `Services wait for each other in a circle: ${circle}.`;
      problems.push({
        code: "E029",
        path: ["services", trail[start]!, "after"],
        message,
        hint: "Remove one of these waits.",
      });
      return;
    }
    if (done.has(name)) return;
    for (const other of services[name]?.after ?? []) {
      if (Object.hasOwn(services, other)) visit(other, [...trail, name]);
    }
    done.add(name);
  };
  for (const name of Object.keys(services)) visit(name, []);
  return problems;
}
