import type { DoctorReport } from "../../contract/api/schemas.ts";
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
  const report = await withProgress(screen, "Examining this host", () => client.doctor());
  if (screen.isJson) screen.printJson(report);
  else screen.print(renderReport(report, screen.style));
  return isUsable(report) ? 0 : 1;
};

/** One runtime that people use is enough; the memory runtime is for tests. */
export const isUsable = (report: DoctorReport): boolean =>
  report.runtimes.some((runtime) => runtime.status === "ready" && runtime.name !== "memory") &&
  report.programs.every((program) => program.status === "ready");

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
    style.bold("Home"),
    `  ${report.home.detail}`,
    "",
    isUsable(report)
      ? `${style.green("✓")} This host can run boxes.`
      : `${style.red("✗")} This host cannot run boxes yet; the fixes are above.`,
  ].join("\n");
}
