/** Beside the form: what the box would be, and the same as a file and as a command. */
import { type ReactNode, useState } from "react";
import { formatDuration } from "../../../src/base/duration.ts";
import type { ManifestCheck } from "../../../src/contract/api/schemas/forms.ts";
import { AgentBoxError } from "../../../src/base/errors.ts";
import { Badge } from "../parts/badge.tsx";
import { formatBytes, formatMoney } from "../parts/format.ts";
import { ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { goToField } from "./form-context.ts";
import { shellLine } from "./shell-quote.ts";

interface AsideProps {
  readonly check: ManifestCheck | undefined;
  readonly isCurrent: boolean;
  readonly error: unknown;
  readonly toml: string;
  readonly command: string;
  /** The command that only makes it, for what follows. */
  readonly createCommand: string;
}

const tabs = ["Summary", "agentbox.toml", "Command line", "Run locally"] as const;
type Tab = (typeof tabs)[number];

export function Aside({ check, isCurrent, error, toml, command, createCommand }: AsideProps) {
  const [tab, setTab] = useState<Tab>("Summary");
  return (
    <aside className="parts-card parts-stack new-box-aside" aria-label="What this form means">
      <div className="parts-tabs" role="tablist" aria-label="What this form means">
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`new-box-tab-${tabs.indexOf(name)}`}
            aria-selected={name === tab}
            aria-controls="new-box-tabpanel"
            className="parts-tab new-box-tab"
            onClick={() => setTab(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div
        id="new-box-tabpanel"
        role="tabpanel"
        aria-labelledby={`new-box-tab-${tabs.indexOf(tab)}`}
        className="parts-stack"
      >
        {tab === "Summary" ? <Summary check={check} isCurrent={isCurrent} error={error} /> : null}
        {tab === "agentbox.toml" ? <CopyableText text={toml} label="Copy the file" /> : null}
        {tab === "Command line" ? (
          <>
            <p className="quiet small">Does the same as the button below the form.</p>
            <CopyableText text={command} label="Copy the command" />
          </>
        ) : null}
        {tab === "Run locally" ? <RunLocally createCommand={createCommand} check={check} /> : null}
      </div>
    </aside>
  );
}

/** The steps that the page takes first by itself. */
const steps: Readonly<Record<string, string>> = {
  "tool.not_installed": "Its agent is installed first.",
  "image.not_built": "Its image is built first.",
};

function Summary({ check, isCurrent, error }: Pick<AsideProps, "check" | "isCurrent" | "error">) {
  if (check === undefined)
    return error === undefined ? <Skeleton height={320} /> : <ErrorNote error={error} />;
  const { findings, problems, warnings, summary } = check;
  return (
    <div className="parts-stack" aria-busy={!isCurrent}>
      {error === undefined ? null : <ErrorNote error={error} />}
      <Findings findings={findings} />
      {problems
        .filter(({ code }) => code !== "trust.required")
        .map((problem) =>
          Object.hasOwn(steps, problem.code) ? (
            <Note key={problem.code}>{steps[problem.code]}</Note>
          ) : (
            <ErrorNote key={problem.message} error={AgentBoxError.fromBody(problem)} />
          ),
        )}
      {warnings.map((warning) => (
        <Note key={warning} tone="warn">
          <Visible text={warning} />
        </Note>
      ))}
      {summary === undefined ? null : <Facts summary={summary} />}
    </div>
  );
}

function Findings({ findings }: Pick<ManifestCheck, "findings">) {
  if (findings.length === 0) return null;
  return (
    <ul className="new-box-findings" aria-label="What is wrong">
      {findings.map((finding) => (
        <li key={`${finding.in} ${finding.code} ${finding.path} ${finding.line} ${finding.column}`}>
          <Badge tone={finding.severity === "error" ? "bad" : "warn"}>{finding.code}</Badge>{" "}
          {finding.in === "form" ? (
            <button type="button" className="new-box-go" onClick={() => goToField(finding.path)}>
              <Visible text={finding.path === "" ? "the form" : finding.path} />
            </button>
          ) : (
            <code>
              <Visible text={`${finding.file ?? ""}:${finding.line}`} />
            </code>
          )}
          : <Visible text={finding.message} />{" "}
          <span className="quiet">
            <Visible text={finding.hint} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Facts({ summary }: { summary: NonNullable<ManifestCheck["summary"]> }) {
  const { spec, isolation, network, name } = summary;
  const { agent, model, workspace, resources, lifecycle, budget, mounts, secrets, services } = spec;
  const rows: (readonly [string, ReactNode] | undefined)[] = [
    ["Name", name],
    [
      "Agent",
      `${agent.name}${agent.version === undefined ? "" : ` ${agent.version}`}, autonomy ${agent.autonomy}`,
    ],
    model === undefined ? undefined : ["Model", `${model.name ?? "its own choice"} from ${model.provider}`],
    ["Workspace", `${workspace.mode} ${workspace.url ?? workspace.source ?? ""}`],
    ["Runtime", `${spec.runtime}${isolation === undefined ? "" : `, tier ${isolation.tier}`}`],
    ["Network", <Lines key="network" lines={network.map(({ verdict, what }) => `${verdict} ${what}`)} />],
    [
      "Limits",
      [
        resources.cpus === undefined ? undefined : `${resources.cpus} processors`,
        resources.memoryBytes === undefined ? undefined : formatBytes(resources.memoryBytes),
        resources.diskBytes === undefined ? undefined : `${formatBytes(resources.diskBytes)} of disk`,
        resources.pids === undefined ? undefined : `${resources.pids} processes`,
      ]
        .filter((text) => text !== undefined)
        .join(", "),
    ],
    budget.length === 0
      ? undefined
      : [
          "Budget",
          <Lines
            key="budget"
            lines={budget.map(
              ({ scope, tokens, microUsd }) =>
                `${scope}: ${[tokens === undefined ? undefined : `${tokens} tokens`, microUsd === undefined ? undefined : formatMoney(microUsd)].filter(Boolean).join(", ")}`,
            )}
          />,
        ],
    [
      "Life",
      `${formatDuration(lifecycle.ttlMs)}${lifecycle.idleMs === undefined ? "" : `, or ${formatDuration(lifecycle.idleMs)} idle`}`,
    ],
    mounts.length === 0
      ? undefined
      : [
          "Mounts",
          <Lines
            key="mounts"
            lines={mounts.map(
              ({ source, target, readOnly }) => `${source} as ${target}${readOnly ? "" : ", writable"}`,
            )}
          />,
        ],
    secrets.length === 0 ? undefined : ["Secrets", secrets.map(({ secret }) => secret).join(", ")],
    services.length === 0 ? undefined : ["Services", services.map((service) => service.name).join(", ")],
  ];
  return (
    <dl className="new-box-facts">
      {rows
        .filter((row) => row !== undefined)
        .map(([title, fact]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{typeof fact === "string" ? <Visible text={fact} /> : fact}</dd>
          </div>
        ))}
    </dl>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <ul>
      {lines.map((line) => (
        <li key={line}>
          <Visible text={line} />
        </li>
      ))}
    </ul>
  );
}

interface RunLocallyProps {
  readonly createCommand: string;
  readonly check: ManifestCheck | undefined;
}

/** The same container on any host with Docker. */
function RunLocally({ createCommand, check }: RunLocallyProps) {
  const hasImage = check?.summary?.spec.image !== undefined || check?.summary?.spec.packages !== undefined;
  return (
    <>
      <p className="quiet small">
        The same closed container without AgentBox, on any host with Docker. The gate, the vault and the
        review stay here, so it has no network.
      </p>
      {hasImage || check?.summary === undefined ? null : (
        <Note tone="warn">
          This box uses this host's own system. To run it elsewhere, name an image under Runtime.
        </Note>
      )}
      <CopyableText
        text={`${createCommand} && ${shellLine(["agentbox", "run-locally", check?.summary?.name ?? "NAME"])}`}
        label="Copy the command"
      />
    </>
  );
}

function CopyableText({ text, label }: { text: string; label: string }) {
  return (
    <>
      <pre className="new-box-text" tabIndex={0}>
        <Visible text={text} />
      </pre>
      <CopyButton text={text} label={label} />
    </>
  );
}
