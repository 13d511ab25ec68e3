/** Secrets as people see them: everything but the value. */
import { printable } from "../../base/printable.ts";
import type { SecretDetails, SecretTest } from "../../contract/api/schemas/vault.ts";
import type { EgressRecord } from "../../contract/network/egress.ts";
import type { GrantScope } from "../../contract/secret/grant.ts";
import type { SecretInfo } from "../../contract/secret/secret.ts";
import { reasonText, targetText } from "../../contract/network/egress-words.ts";
import type { Style } from "./style.ts";
import { age, plural, renderTable, shorten } from "./table.ts";

export function renderSecrets(secrets: readonly SecretDetails[], nowMs: number, style: Style): string {
  if (secrets.length === 0) return "The vault is empty. Save a secret: agentbox vault set github";
  const rows = secrets.map(({ secret, grants }) => [
    style.bold(printable(secret.name)),
    secret.kind,
    sourceText(secret),
    `v${secret.versions.at(-1)?.version ?? 1}`,
    plural(grants.length, "grant"),
    `${age(secret.updatedAtMs, nowMs)} ago`,
    printable(secret.note ?? ""),
  ]);
  const head = ["NAME", "KIND", "KEPT", "VERSION", "GRANTS", "CHANGED", "NOTE"].map(style.dim);
  return renderTable([head, ...rows]);
}

export function renderSecret({ secret, grants }: SecretDetails, nowMs: number, style: Style): string {
  const facts = [
    ["kind", secret.kind],
    ["kept", sourceText(secret)],
    ...(secret.note === undefined ? [] : [["note", printable(secret.note)]]),
    ...secret.versions.map(({ version, createdAtMs, revokedAtMs }) => [
      `version ${version}`,
      `${age(createdAtMs, nowMs)} old${revokedAtMs === undefined ? ", in use" : `, ends ${when(revokedAtMs)}`}`,
    ]),
  ];
  const lines = grants.map(({ scope, sentence, expiresAtMs }) => {
    const until = expiresAtMs === undefined ? "" : style.dim(` until ${when(expiresAtMs)}`);
    return `  ${scopeText(scope)} may ${printable(sentence)}${until}`;
  });
  return [
    style.bold(printable(secret.name)),
    renderTable(facts, "  "),
    ...(lines.length === 0 ? ["  no box can use it yet"] : lines),
  ].join("\n");
}

const when = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace("T", " ");

function sourceText({ source }: SecretInfo): string {
  if (source.kind === "stored") return "in the vault";
  if (source.kind === "env") return printable(`env:${source.variable}`);
  if (source.kind === "file") return shorten(printable(`file:${source.path}`), 40);
  return shorten(printable(`command:${source.argv.join(" ")}`), 40);
}

function scopeText(scope: GrantScope): string {
  if (scope.kind === "box") return `the box ${printable(scope.box)}`;
  return scope.kind === "project"
    ? `every box of ${printable(scope.projectDir)}`
    : `every box of ${printable(scope.agent)}`;
}

export function renderAudit(records: readonly EgressRecord[], nowMs: number, style: Style): string {
  if (records.length === 0) return "No secret has been used or refused yet.";
  const rows = records.map((record) => [
    `${age(record.atMs, nowMs)} ago`,
    printable(record.box),
    printable(record.secret ?? ""),
    outcomeText(record, style),
    shorten(targetText(record), 60),
    record.reason === undefined ? String(record.status ?? "") : reasonText(record.reason),
  ]);
  return renderTable([["WHEN", "BOX", "SECRET", "WHAT", "WHERE", "RESULT"].map(style.dim), ...rows]);
}

function outcomeText({ isInjected, reason }: EgressRecord, style: Style): string {
  if (isInjected === true) return style.green("used");
  // The server could not be reached: it refused nothing, and nothing was sent.
  return reason === "unresolvable" || reason === "unreachable" ? "not sent" : style.red("refused");
}

export const renderTests = (tests: readonly SecretTest[], style: Style): string =>
  tests
    .map(({ url, method, isInjected, sentence }) => {
      const mark = isInjected ? style.green("✓") : style.red("✗");
      return url === ""
        ? printable(sentence)
        : `${mark} ${method} ${printable(url)}\n  ${printable(sentence)}`;
    })
    .join("\n");
