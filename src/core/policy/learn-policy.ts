/** From a box's denied requests to the smallest policy that would allow them. Pure; it is not put in force. */
import type { EgressRecord } from "../../contract/network/egress.ts";
import { parseHostPattern } from "../../contract/network/host-pattern.ts";
import { canonicalPath, pathPatternProblem } from "../../contract/network/path-pattern.ts";

const maxComments = 20;
const toml = (value: string): string => JSON.stringify(value);
/** Comments hold what the box wrote, so only plain letters are kept of it. */
const plain = (text: string): string => text.replaceAll(/[^\x20-\x7e]/gu, "?").slice(0, 253);
const list = (values: readonly string[]): string => `[${values.join(", ")}]`;
/** Denials that a rule for the host would lift. */
const hostReasons = new Set(["no_rule", "wrong_port", "expired", "not_approved"]);
const requestReasons = new Set(["wrong_method", "wrong_path"]);

/**
 * TOML to paste into `agentbox.toml`: hosts and ports by name, methods and paths where a rule asks about them, never a
 * wildcard. Destinations that no rule can open are left as comments.  SECURITY: the box chose the content of the
 * records. Every host is read anew, so only names come out.
 */
export function learnPolicy(records: readonly EgressRecord[]): string {
  const denied = records.filter(({ verdict }) => verdict === "deny");
  const usable = denied.filter(({ host }) => "pattern" in parseHostPattern(host));
  const hosts = new Set<string>();
  for (const { host, port, reason = "" } of usable)
    if (hostReasons.has(reason)) hosts.add(port === 80 || port === 443 ? host : `${host}:${port}`);
  const rules = requestRules(usable.filter(({ reason = "" }) => requestReasons.has(reason)));
  const closed = denied.filter((record) => !isLearned(record, usable));
  const blocks = [
    ...comments(closed),
    ...(hosts.size === 0
      ? []
      : [
          `[network]\nallow = [\n${[...hosts]
            .sort()
            .map((host) => `  ${toml(host)},\n`)
            .join("")}]\n`,
        ]),
    ...rules,
  ];
  return blocks.length === 0 ? "# Nothing was refused: no rule is missing.\n" : blocks.join("\n");
}

const isLearned = (record: EgressRecord, usable: readonly EgressRecord[]): boolean =>
  usable.includes(record) &&
  (hostReasons.has(record.reason ?? "") ||
    (requestReasons.has(record.reason ?? "") && literalPath(record) !== undefined));

/** The path as a pattern that means only itself. */
function literalPath({ path }: EgressRecord): string | undefined {
  const canonical = path === undefined ? undefined : canonicalPath(path);
  return canonical === undefined || canonical.includes("*") || pathPatternProblem(canonical)
    ? undefined
    : canonical;
}

/** One rule for each host, port and method, with the paths that were asked for. */
function requestRules(records: readonly EgressRecord[]): string[] {
  const groups = new Map<string, { record: EgressRecord; method: string; paths: Set<string> }>();
  for (const record of records) {
    const path = literalPath(record);
    const { host, port, method = "" } = record;
    if (path === undefined || !/^[A-Z][A-Z-]{0,31}$/.test(method)) continue;
    const key = `${host}:${port} ${method}`;
    const group = groups.get(key) ?? { record, method, paths: new Set<string>() };
    groups.set(key, { ...group, paths: group.paths.add(path) });
  }
  return [...groups.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([, { record, method, paths }]) =>
        `[[network.rules]]\nhost = ${toml(record.host)}\nports = [${record.port}]\nmethods = [${toml(method)}]\npaths = ${list([...paths].sort().map(toml))}\n`,
    );
}

function comments(records: readonly EgressRecord[]): string[] {
  const lines = new Set(
    records.map(
      ({ host, port, reason = "denied" }) => `# ${plain(host)} on port ${port}: ${plain(reason)}\n`,
    ),
  );
  const shown = [...lines].sort().slice(0, maxComments);
  return shown.length === 0 ? [] : [`# Refused, and not for a rule like these to open:\n${shown.join("")}`];
}
