import { printable } from "../../base/printable.ts";
import type { Approval, ApprovalAnswer, MissedApproval } from "../../contract/network/egress.ts";
import { targetText } from "../../contract/network/egress-words.ts";
import type { Style } from "../render/style.ts";
import { age, renderTable } from "../render/table.ts";

/** How long a yes for a box or project holds when nothing is said; the daemon's own default. */
const defaultTtlMs = 86_400_000;

/** SECURITY: everything but the id is chosen by the box; it must not be able to redraw the question. */
export function renderApproval(approval: Approval, nowMs: number, style: Style): string {
  const left = Math.max(0, Math.ceil((approval.expiresAtMs - nowMs) / 1_000));
  const rows = [
    ["destination", style.bold(targetText(approval))],
    [
      "program",
      `${printable(approval.program ?? "unknown")}${approval.program === undefined ? "" : " (as the box says)"}`,
    ],
    ["a yes means", printable(approval.sentence)],
    ["no answer", `denied in ${left} s`],
    ...(approval.projectDir === undefined ? [] : [["project", printable(approval.projectDir)]]),
  ];
  const wish =
    approval.secret === undefined
      ? `reach ${printable(approval.host)}`
      : `use the secret ${style.bold(printable(approval.secret))} at ${printable(approval.host)}`;
  return `${style.yellow(`question ${approval.id}`)}: ${style.bold(printable(approval.box))} wants to ${wish}\n${renderTable(rows, "  ")}`;
}

/** Questions that nobody answered. SECURITY: everything but id and times is chosen by the box. */
export const renderMissed = (missed: readonly MissedApproval[], nowMs: number, style: Style): string =>
  [
    style.bold("Missed: denied without an answer"),
    renderTable(
      [
        ["ID", "BOX", "WHEN", "TIMES", "WANTED"].map(style.dim),
        ...missed.map(({ id, box, missedAtMs, times, sentence }) => [
          `${id}`,
          printable(box),
          `${age(missedAtMs, nowMs)} ago`,
          `${times}`,
          printable(sentence),
        ]),
      ],
      "  ",
    ),
    "Allow one from now on: agentbox approvals allow ID --scope box --for 1d. Take it off the list: agentbox approvals deny ID",
  ].join("\n");

/** The keys that answer, each with what it allows and until when. */
export function renderKeys(
  approval: Approval,
  ttlMs: number | undefined,
  nowMs: number,
  style: Style,
): string {
  const until = untilText(ttlMs, nowMs);
  const rows = [
    [
      style.bold("o"),
      approval.secret === undefined ? "once: this connection only" : "once: this request only",
    ],
    [style.bold("b"), `this box (${printable(approval.box)}), until ${until}`],
    ...(approval.projectDir === undefined
      ? []
      : [[style.bold("p"), `every box of this project, until ${until}`]]),
    [style.bold("n"), "no"],
    [style.bold("q"), "leave; the question stays open"],
  ];
  return renderTable(rows, "  ");
}

export function untilText(ttlMs: number | undefined, nowMs: number): string {
  const end = new Date(nowMs + (ttlMs ?? defaultTtlMs));
  const two = (number: number) => String(number).padStart(2, "0");
  return `${end.getFullYear()}-${two(end.getMonth() + 1)}-${two(end.getDate())} ${two(end.getHours())}:${two(end.getMinutes())}`;
}

/** The answer in one sentence that cannot be mistaken for a wider permission. */
export function answerText(
  approval: Omit<Approval, "expiresAtMs"> | undefined,
  { answer, scope, ttlMs }: ApprovalAnswer,
  nowMs: number,
  style: Style,
): string {
  const target = approval === undefined ? "the request" : targetText(approval);
  const what = approval?.secret === undefined ? target : `${printable(approval.secret)} at ${target}`;
  if (answer === "deny") return `${style.red("denied")} ${what}`;
  if (scope === "once") return `${style.green("allowed")} ${what}, this once`;
  const whom =
    scope === "box" ? `box ${printable(approval?.box ?? "of the question")}` : "every box of the project";
  return `${style.green("allowed")} ${what} for ${whom} until ${untilText(ttlMs, nowMs)}`;
}
