import { createContext } from "react";
import { type Path, formatPath } from "../../../src/manifest/path.ts";

/** The daemon's findings by the path of the field. */
export type Problems = ReadonlyMap<string, string>;

export const ProblemsContext = createContext<Problems>(new Map());

/** The element a finding leads to. */
export const fieldId = (path: Path): string => `new-box-field-${formatPath(path)}`;

/** Unfolds the sections around a path of the form and goes to its field, or to the nearest parent with one. */
export function goToField(path: string): void {
  for (let at = path; at !== ""; at = at.slice(0, Math.max(at.lastIndexOf("."), at.lastIndexOf("["), 0))) {
    const element = document.getElementById(`new-box-field-${at}`);
    if (element === null) continue;
    for (let around: Element | null = element; around !== null; around = around.parentElement)
      if (around instanceof HTMLDetailsElement) around.open = true;
    element.scrollIntoView({ block: "center" });
    const control = element.matches("input, select, textarea, summary")
      ? element
      : element.querySelector("input, select, textarea, summary");
    if (control instanceof HTMLElement) control.focus();
    return;
  }
}
