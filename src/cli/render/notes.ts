import { printable } from "../../base/printable.ts";
import type { CreatedBox } from "../../contract/api/schemas.ts";
import type { Screen } from "./screen.ts";
import { plural } from "./table.ts";

/** What a person should know about a box that was made, on stderr. */
export function showWarnings(
  screen: Screen,
  { leftBehind, warnings }: Pick<CreatedBox, "leftBehind" | "warnings">,
): void {
  const { yellow, dim } = screen.errorStyle;
  for (const warning of warnings) screen.note(`${yellow("warning:")} ${printable(warning)}`);
  if (leftBehind > 0) {
    const verb = leftBehind === 1 ? "was" : "were";
    screen.note(
      `${dim("note:")} ${plural(leftBehind, "uncommitted path")} ${verb} not carried in (use --carry dirty)`,
    );
  }
}

export function showKept(screen: Screen, box: string, why: string): void {
  screen.note(
    `${screen.errorStyle.dim("note:")} kept box ${box}: ${why}; agentbox inspect ${box}, agentbox rm ${box}`,
  );
}
