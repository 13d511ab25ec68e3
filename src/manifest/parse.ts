import { AgentBoxError } from "../base/errors.ts";
import { parseDuration } from "../base/duration.ts";
import { checkAgent } from "./checks/check-agent.ts";
import { checkBudget } from "./checks/check-budget.ts";
import { checkChoices } from "./checks/check-choices.ts";
import type { Check, CheckContext } from "./checks/check-context.ts";
import { checkEnv } from "./checks/check-env.ts";
import { checkMcp } from "./checks/check-mcp.ts";
import { checkLogins, checkModel, checkPrices } from "./checks/check-model.ts";
import { checkNetwork, checkRequest } from "./checks/check-network.ts";
import { checkMounts } from "./checks/check-mounts.ts";
import { checkRuntime } from "./checks/check-runtime.ts";
import { checkSecrets } from "./checks/check-secrets.ts";
import { checkSecurity } from "./checks/check-security.ts";
import { checkServices } from "./checks/check-services.ts";
import { type Finding, type Problem, hasErrors, orderFindings, positionProblem, quote } from "./finding.ts";
import { findHiddenInTyped } from "./toml/hidden-text.ts";
import type { ManifestLayer } from "./layers.ts";
import { findUnsafeValue } from "./toml/raw-values.ts";
import { readSections } from "./read-sections.ts";
import { readToml } from "./toml/read-toml.ts";
import { type Manifest, ManifestSections, type ManifestValues } from "./schema.ts";
import { TomlPositions } from "./toml/toml-positions.ts";
import { HostPolicy, UserConfig } from "./user-config.ts";

export interface ParseOptions extends CheckContext {
  /** Name of the file, kept as the source of its values. */
  readonly file: string;
}

export interface ParsedManifest {
  /** Absent when there is an error among the findings. */
  readonly manifest?: Manifest;
  readonly layer?: ManifestLayer;
  readonly findings: Finding[];
}

export interface ParsedUserConfig {
  readonly config?: UserConfig;
  readonly layer?: ManifestLayer;
  readonly findings: Finding[];
}

/** For sections that a person's own config has, too. */
const sharedChecks: readonly Check[] = [
  checkAgent,
  checkModel,
  checkBudget,
  checkMcp,
  checkNetwork,
  checkSecrets,
];

const checks: readonly Check[] = [
  ...sharedChecks,
  checkChoices,
  checkMounts,
  checkEnv,
  checkServices,
  checkRequest,
  checkPrices,
  checkLogins,
  checkRuntime,
  checkSecurity,
];

/** Reads `agentbox.toml`. The text is hostile: for any text, the answer is findings, never an exception. */
export function parseManifest(text: string, options: ParseOptions): ParsedManifest {
  const { values: raw, positions, findings: first } = readToml(text);
  if (!raw) return { findings: orderFindings(first) };
  const { problems, values } = checkDocument(raw, options);
  const findings = orderFindings([
    ...first,
    ...problems.map((problem) => positionProblem(problem, positions)),
  ]);
  if (hasErrors(findings)) return { findings };
  const layer: ManifestLayer = { source: "manifest", file: options.file, values, positions };
  return { manifest: { version: 1, ...values }, layer, findings };
}

function checkDocument(
  raw: Record<string, unknown>,
  context: CheckContext,
): { problems: Problem[]; values: ManifestValues } {
  const wrongVersion = checkVersion(raw);
  // The same words may mean something else in another version: no second complaint.
  if (wrongVersion?.code === "E008") return { problems: [wrongVersion], values: {} };
  const { version: _version, ...sections } = raw;
  const { problems, values } = readSections(sections, ManifestSections);
  const semantic = checks.flatMap((check) => check(values, context));
  return { problems: [...(wrongVersion ? [wrongVersion] : []), ...problems, ...semantic], values };
}

function checkVersion(raw: Record<string, unknown>): Problem | undefined {
  const version = raw["version"];
  if (version === 1) return undefined;
  if (version === undefined) {
    return {
      code: "E007",
      path: [],
      message: "The version is missing.",
      hint: "Write version = 1 as the first line.",
    };
  }
  const message = `The version is ${quote(version)}, and only version 1 is known.`;
  return { code: "E008", path: ["version"], message, hint: "Write version = 1, or use a newer AgentBox." };
}

/** Reads `config.toml` of AGENTBOX_HOME by the same rules; a `version` may be there, and is not needed. */
export function parseUserConfig(text: string, options: ParseOptions): ParsedUserConfig {
  const { values: raw, positions, findings: first } = readToml(text);
  if (!raw) return { findings: orderFindings(first) };
  const { version = 1, ...sections } = raw;
  const wrongVersion = checkVersion({ version });
  if (wrongVersion) return { findings: orderFindings([...first, positionProblem(wrongVersion, positions)]) };
  const { problems, values } = readSections(sections, UserConfig);
  const maxTtlMs = parseDuration(values.limits?.max_ttl ?? "");
  const semantic = [
    ...checkChoices(values, { ...options, maxTtlMs: maxTtlMs ?? options.maxTtlMs }),
    ...sharedChecks.flatMap((check) => check(values, options)),
  ];
  const findings = orderFindings([
    ...first,
    ...[...problems, ...semantic].map((p) => positionProblem(p, positions)),
  ]);
  if (hasErrors(findings)) return { findings };
  const layer: ManifestLayer = { source: "user config", file: options.file, values, positions };
  return { config: values, layer, findings };
}

/** Reads the host policy, `/etc/agentbox/policy.toml`: a [network] for every box of the machine. */
export function parseHostPolicy(
  text: string,
  options: ParseOptions,
): { readonly layer?: ManifestLayer; readonly findings: Finding[] } {
  const { values: raw, positions, findings: first } = readToml(text);
  if (!raw) return { findings: orderFindings(first) };
  const { problems, values } = readSections(raw, HostPolicy);
  const found = [...problems, ...checkNetwork(values, options)].map((p) => positionProblem(p, positions));
  const findings = orderFindings([...first, ...found]);
  if (hasErrors(findings)) return { findings };
  return { layer: { source: "host policy", file: options.file, values, positions }, findings };
}

/**
 * A person's flags, as a partial manifest that is the highest layer. Throws `input.invalid` at the first mistake. The
 * agent's options are read when the box is made: flags are text, and only the agent's schema tells a number from a
 * name.
 */
export function parseFlags(flags: unknown, context: CheckContext = {}): ManifestLayer {
  const isTable = flags !== null && typeof flags === "object" && !Array.isArray(flags);
  const raw = isTable ? (flags as Record<string, unknown>) : {};
  const unsafe = isTable ? findUnsafeValue(raw, findHiddenInTyped) : undefined;
  const { problems, values } = unsafe
    ? { problems: [unsafe], values: {} }
    : checkDocument({ ...raw, version: 1 }, { ...context, agentOptions: undefined });
  const finding = problems
    .map((p) => positionProblem(p, new TomlPositions()))
    .find((f) => f.severity === "error");
  if (!isTable || finding) {
    throw new AgentBoxError("input.invalid", finding?.message ?? "The flags are not a table.", {
      hint: finding?.hint,
      facts: finding ? { rule: finding.code, key: finding.path } : undefined,
    });
  }
  return { source: "flag", values };
}
