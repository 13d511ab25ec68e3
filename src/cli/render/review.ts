import { formatDuration } from "../../base/duration.ts";
import { printable } from "../../base/printable.ts";
import { describeException } from "../../contract/exception-words.ts";
import type { Change } from "../../contract/review/change.ts";
import type { Danger } from "../../contract/review/danger.ts";
import type { Review } from "../../contract/review/review.ts";
import type { Style } from "./style.ts";
import { plural, renderTable } from "./table.ts";
import { renderTotals } from "./verdict.ts";

const signs: Record<Change["kind"], string> = {
  added: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  copied: "C",
  type_changed: "T",
};

/** Dangers first, then what has changed, then what happened in the box. */
export function renderReview(review: Review, style: Style): string {
  const parts = [
    renderDangers(review.dangers, style),
    renderHistory(review.history, style),
    renderChanges(review, style),
    renderComments(review, style),
    renderChecks(review, style),
    renderSummary(review, style),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

export function renderDangers(dangers: readonly Danger[], style: Style): string {
  if (dangers.length === 0) return "";
  const kinds = new Set(dangers.map(({ kind }) => kind)).size;
  const head = style.bold(
    style.red(`${plural(dangers.length, "danger")} of ${plural(kinds, "kind")}; look at these first`),
  );
  const rows = dangers.map(({ kind, path, line, why }) => [
    style.red(kind),
    `${style.bold(printable(path))}${line === undefined ? "" : `:${line}`}`,
    printable(why),
  ]);
  const asked = dangers.filter(({ kind }) => kind === "installed").length;
  const wayOut = asked === 0 ? "" : `\n  ${style.dim("ignore one:")} agentbox ignore BOX DIRECTORY`;
  return `${head}\n${renderTable(rows, "  ")}${wayOut}`;
}

/** Changes that the diff of the whole does not show, because a later commit removed them again. */
export function renderHistory(history: Review["history"], style: Style): string {
  if (history.length === 0) return "";
  const head = style.bold(style.yellow("In single commits, which land only with --mode commits"));
  const groups = history.map(({ commit, subject, author, dangers }) => {
    const rows = dangers.map(({ kind, path, line, why }) => [
      style.red(kind),
      `${style.bold(printable(path))}${line === undefined ? "" : `:${line}`}`,
      printable(why),
    ]);
    return `  ${style.bold(commit.slice(0, 12))} ${printable(subject)} ${style.dim(printable(author))}\n${renderTable(rows, "    ")}`;
  });
  return [head, ...groups].join("\n");
}

function renderChanges({ changes, totals, from }: Review, style: Style): string {
  if (changes.length === 0) return "Nothing has changed.";
  const head = `${plural(totals.files, "file")} changed since ${from}, ${style.green(`+${totals.added}`)} ${style.red(`-${totals.deleted}`)}`;
  const rows = changes.map((change) => [
    signs[change.kind],
    `${change.oldPath === undefined ? "" : `${printable(change.oldPath)} → `}${printable(change.path)}${modeNote(change)}`,
    change.isBinary ? "binary" : `${style.green(`+${change.added}`)} ${style.red(`-${change.deleted}`)}`,
  ]);
  return `${head}\n${renderTable(rows, "  ")}`;
}

function modeNote({ kind, oldMode, newMode }: Change): string {
  if (newMode === "120000") return " (link)";
  if (newMode === "160000") return " (submodule)";
  if (kind === "added" && newMode === "100755") return " (executable)";
  if (oldMode === newMode || kind === "added" || kind === "deleted") return "";
  return newMode === "100755" ? " (now executable)" : " (no longer executable)";
}

function renderComments({ comments }: Review, style: Style): string {
  const open = comments.filter(({ state }) => state !== "resolved");
  if (open.length === 0) return "";
  const rows = open.map(({ id, path, line, state, text }) => [
    style.dim(`#${id}`),
    `${printable(path)}${line === undefined ? "" : `:${line}`}`,
    state,
    printable(text.split("\n")[0] ?? "").slice(0, 80),
  ]);
  return `${style.bold("Comments")}\n${renderTable(rows, "  ")}`;
}

function renderChecks({ checks, requiredChecks }: Review, style: Style): string {
  if (requiredChecks.length === 0) return "";
  const rows = requiredChecks.map((name) => {
    const result = checks.find((check) => check.name === name);
    if (!result) return [style.yellow("not run"), name, ""];
    const paint = result.status === "passed" ? style.green : style.red;
    return [paint(result.status.replaceAll("_", " ")), name, formatDuration(result.durationMs)];
  });
  return `${style.bold("Checks")}\n${renderTable(rows, "  ")}`;
}

function renderSecrets(secrets: Review["summary"]["secrets"], style: Style): string[][] {
  const used = secrets.filter(({ uses }) => uses > 0).map(({ name, uses }) => `${printable(name)} ×${uses}`);
  const held = secrets.filter(({ isHeld }) => isHeld).map(({ name }) => printable(name));
  const parts = [
    ...(used.length === 0 ? [] : [used.join(", ")]),
    ...(held.length === 0 ? [] : [style.yellow(`held by the box: ${held.join(", ")}`)]),
  ];
  return secrets.length === 0 ? [] : [["secrets used", parts.length === 0 ? "none" : parts.join("; ")]];
}

function renderSummary({ summary, agent }: Review, style: Style): string {
  const { durationMs, turns, commands, hostsReached, hostsDenied, usage, verdict } = summary;
  const hosts = (list: readonly string[]) =>
    list.length === 0
      ? "none"
      : printable(list.slice(0, 8).join(", ")) + (list.length > 8 ? ` and ${list.length - 8} more` : "");
  return `${style.bold("Session")}\n${renderTable(
    [
      ["agent", `${printable(agent)}${verdict === undefined ? "" : `, ${verdict.replaceAll("_", " ")}`}`],
      ["time", `${formatDuration(durationMs)}, ${plural(turns, "turn")}, ${plural(commands, "tool call")}`],
      ["reached", hosts(hostsReached)],
      ["denied", hostsDenied.length === 0 ? "none" : style.yellow(hosts(hostsDenied))],
      ...renderSecrets(summary.secrets, style),
      ...summary.exceptions.map((exception) => [
        style.yellow("beyond the baseline"),
        printable(`could ${describeException(exception)} (${exception.name}: ${exception.reason})`),
      ]),
      ["model", usage.requests === 0 ? "not asked" : renderTotals(usage)],
    ],
    "  ",
  )}`;
}
