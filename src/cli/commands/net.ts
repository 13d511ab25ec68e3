import { formatBytes } from "../../base/bytes.ts";
import { printable } from "../../base/printable.ts";
import type { NetAnswer } from "../../contract/api/schemas.ts";
import type { EgressRecord } from "../../contract/network/egress.ts";
import type { RunCommand } from "../command.ts";
import { getNamedBox } from "../boxes/named-box.ts";
import { reasonText, targetText } from "../../contract/network/egress-words.ts";
import { renderAudit } from "../render/secrets.ts";
import type { Style } from "../render/style.ts";
import { age, plural, renderTable, shorten } from "../render/table.ts";

const everyMs = 2_000;
const shownDenials = 10;
const shownUses = 10;

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const { box } = getNamedBox(context, args.positionals);
  const client = await context.connect();
  const lastMs = args.durationMs("since");
  for (;;) {
    const sinceMs = lastMs === undefined ? undefined : Date.now() - lastMs;
    const isRecent = (atMs: number): boolean => sinceMs === undefined || atMs >= sinceMs;
    const [all, denied, used, { box: current }] = await Promise.all([
      client.getNet(box),
      client.listEgress({ box, verdict: "deny", order: "newest", limit: shownDenials }),
      client.secretAudit({ box, limit: shownUses }),
      client.getBox(box),
    ]);
    // The log is kept by name, and also has what an earlier box of this name was denied.
    const isOwn = ({ incarnation, atMs }: EgressRecord): boolean =>
      incarnation === current.incarnation && isRecent(atMs);
    const net = { ...all, hosts: all.hosts.filter(({ lastAtMs }) => isRecent(lastAtMs)) };
    const denials = denied.filter(isOwn);
    const uses = used.filter(isOwn);
    if (screen.isJson) {
      const facts = { ...net, lastDenials: denials, lastSecretUses: uses };
      if (args.isSet("watch")) screen.printJsonLine(facts);
      else screen.printJson(facts);
    } else {
      if (args.isSet("watch") && screen.streams.stdout.isTTY)
        screen.streams.stdout.write("\u001b[H\u001b[2J");
      const since = args.text("since");
      screen.print(renderNet(net, denials, { nowMs: Date.now(), style: screen.style, since }, uses));
    }
    if (!args.isSet("watch")) return 0;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
};

interface NetView {
  readonly nowMs: number;
  readonly style: Style;
  /** Only hosts of the last so long are shown. */
  readonly since?: string | undefined;
}

export function renderNet(
  net: NetAnswer,
  denials: readonly EgressRecord[],
  view: NetView,
  uses: readonly EgressRecord[] = [],
): string {
  const { style, since } = view;
  if (net.hosts.length === 0 && denials.length === 0)
    return `${net.box} has not tried to reach anything ${since === undefined ? "yet" : `in the last ${since}`}.`;
  const life = since === undefined ? "" : " in its whole life";
  const total = `${plural(net.requests, "request")}, ${plural(net.denials, "denial")}, ${formatBytes(net.bytesOut)} sent, ${formatBytes(net.bytesIn)} received${life}`;
  return [
    `${style.bold(net.box)}: ${total}`,
    "",
    renderHosts(net, view),
    ...(uses.length === 0
      ? []
      : ["", style.bold("Last uses of secrets"), renderAudit(uses, view.nowMs, style)]),
    ...(denials.length === 0 ? [] : ["", style.bold("Last denials"), renderDenials(denials, view)]),
    ...(denials.length === 0
      ? []
      : ["", style.dim(`Why, and how to change it: agentbox policy explain --box ${net.box} URL`)]),
  ].join("\n");
}

/** `github ×12`, for each. */
const secretsText = (secrets: Readonly<Record<string, number>> = {}): string =>
  Object.entries(secrets)
    .map(([name, count]) => `${printable(name)} ×${count}`)
    .join(", ");

function renderHosts({ hosts }: NetAnswer, { nowMs, style }: NetView): string {
  // Most boxes have none, and then the column is left out.
  const hasSecrets = hosts.some(({ secrets }) => secrets !== undefined);
  const rows = [...hosts]
    .sort((a, b) => b.lastAtMs - a.lastAtMs)
    .map((host) => [
      style.bold(printable(host.host)),
      String(host.port),
      host.open > 0 ? style.green(String(host.open)) : "0",
      String(host.requests),
      host.denials > 0 ? style.red(String(host.denials)) : "0",
      formatBytes(host.bytesOut),
      formatBytes(host.bytesIn),
      `${age(host.lastAtMs, nowMs)} ago`,
      ...(hasSecrets ? [secretsText(host.secrets)] : []),
    ]);
  const head = ["HOST", "PORT", "OPEN", "REQUESTS", "DENIED", "SENT", "RECEIVED", "LAST"];
  return renderTable([[...head, ...(hasSecrets ? ["SECRETS"] : [])].map(style.dim), ...rows]);
}

function renderDenials(denials: readonly EgressRecord[], { nowMs, style }: NetView): string {
  const rows = denials.map((record) => [
    `${age(record.atMs, nowMs)} ago`,
    shorten(targetText(record), 60),
    reasonText(record.reason),
    printable(record.rule ?? "-"),
    shorten(printable(record.program ?? "-"), 24),
  ]);
  return renderTable([["WHEN", "WHAT", "WHY", "RULE", "PROGRAM"].map(style.dim), ...rows], "  ");
}
