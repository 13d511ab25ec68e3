import { exitCodes } from "../../base/error-codes.ts";
import type { DoctorReport } from "../../contract/api/schemas/daemon.ts";
import type { RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import type { Style } from "../render/style.ts";
import { renderTable } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  if (args.isSet("prove")) {
    const { prove } = await import("../prove/index.ts");
    return prove(context);
  }
  const client = await context.connect();
  const examine = () => withProgress(screen, "Checking this host", () => client.getDoctor());
  let report = await examine();
  if (args.isSet("fix")) {
    const { fixGvisor } = await import("./doctor-fix.ts");
    if (!(await fixGvisor(context, report))) return exitCodes.refused;
    report = await examine();
  }
  if (screen.isJson) screen.printJson(report);
  else screen.print(renderReport(report, screen.style));
  return isUsable(report) ? 0 : 1;
};

/** One runtime that people use is enough; the memory runtime is for tests. */
export const isUsable = (report: DoctorReport): boolean =>
  report.runtimes.some((runtime) => runtime.status === "ready" && runtime.name !== "memory") &&
  report.programs.every((program) => program.status === "ready");

/** One line for each part and answer; nothing at all where nothing is known. */
function renderEscapes(escapes: DoctorReport["escapes"], style: Style): string[] {
  if (escapes.length === 0) return [];
  const mark = {
    affected: style.red("affected"),
    unknown: style.yellow("cannot tell"),
    closed: style.green("closed"),
  } as const;
  const rows = escapes.map(({ component, version, advisory, verdict }) => [
    style.bold(component.padEnd(11)),
    version,
    advisory,
    mark[verdict],
  ]);
  const details = escapes.flatMap(({ advisory, detail, hint }) => [
    `    ${advisory}: ${detail}`,
    ...(hint === undefined ? [] : [`      ${style.dim("fix:")} ${hint}`]),
  ]);
  return [style.bold("Known escapes"), renderTable(rows, "  "), ...details, ""];
}

const marks = (style: Style) =>
  ({ ready: style.green("ready"), absent: style.yellow("absent"), broken: style.red("broken") }) as const;

export function renderReport(report: DoctorReport, style: Style): string {
  const mark = marks(style);
  const runtimes = report.runtimes.flatMap((runtime) => [
    renderTable([[style.bold(runtime.name.padEnd(11)), mark[runtime.status], runtime.detail]], "  "),
    ...(runtime.fix ? [`    ${style.dim("fix:")} ${runtime.fix.hint}`] : []),
    ...(runtime.limits.length > 0
      ? [
          renderTable(
            runtime.limits.map((limit) => [
              limit.name,
              limit.isEnforced ? style.green("yes") : style.yellow("no"),
              style.dim(limit.by),
            ]),
            "    ",
          ),
        ]
      : []),
  ]);
  const programs = report.programs.map((program) => [
    style.bold(program.name.padEnd(11)),
    mark[program.status],
    program.status === "ready" ? program.detail : `install: ${program.packages.join(" ")}`,
  ]);
  return [
    style.bold("Runtimes"),
    ...runtimes,
    "",
    style.bold("Programs"),
    renderTable(programs, "  "),
    "",
    ...renderEscapes(report.escapes, style),
    style.bold("Home"),
    `  ${report.home.detail}`,
    "",
    isUsable(report)
      ? `${style.green("✓")} This host can run boxes.`
      : `${style.red("✗")} This host cannot run boxes yet; the fixes are above.`,
  ].join("\n");
}
