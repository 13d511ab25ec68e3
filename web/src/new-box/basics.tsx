import type { AgentInfo } from "../../../src/contract/api/schemas.ts";
import { mostRunners } from "../../../src/contract/race.ts";
import { Badge } from "../parts/badge.tsx";
import { Field, Select, Switch, TextArea, TextInput } from "../parts/field.tsx";
import { type Draft, isRace, valueAt, withValue } from "./draft.ts";
import { ProjectPicker } from "./project-picker.tsx";
import { Chips } from "./chips.tsx";

interface BasicsProps {
  readonly draft: Draft;
  readonly agents: readonly AgentInfo[];
  /** Names of the network presets of this host. */
  readonly presets: readonly string[];
  readonly nameError: string | undefined;
  readonly dirError: string | undefined;
  readonly proposedName: string | undefined;
  /** The agent that the box would get, chosen here or by the project. */
  readonly agentName: string | undefined;
  readonly onChange: (change: Partial<Draft>) => void;
  readonly onAgent: (name: string | undefined) => void;
}

/** The fields that almost everyone fills in: task, project and agent. */
export function Basics({
  draft,
  agents,
  presets,
  nameError,
  dirError,
  proposedName,
  agentName,
  onChange,
  onAgent,
}: BasicsProps) {
  const name = valueAt(draft.values, ["agent", "name"]);
  const chosen = agents.find((one) => one.name === name);
  const network = valueAt(draft.values, ["network", "presets"]);
  const chosenPresets = Array.isArray(network) ? network.map(String) : [];
  const races = isRace(draft);
  return (
    <section className="parts-card new-box-fields" aria-label="The box">
      <Field label="Task" hint="What the agent is to do on its own. Empty: it waits for you in its terminal.">
        <TextArea rows={4} value={draft.task} onChange={({ target }) => onChange({ task: target.value })} />
      </Field>
      <ProjectPicker
        dir={draft.projectDir}
        error={dirError}
        onChange={(projectDir) => onChange({ projectDir })}
      />
      <Field label="Agent" hint={chosen?.description ?? "Who works in the box."}>
        <Select
          value={typeof name === "string" ? name : ""}
          onChange={({ target }) => onAgent(target.value === "" ? undefined : target.value)}
        >
          <option value="">default of the project or your config</option>
          {agents.map((one) => (
            <option key={one.name} value={one.name}>
              {one.title}
              {one.origin === "user" ? " (yours)" : ""}
            </option>
          ))}
        </Select>
      </Field>
      {chosen?.kind === "agent" && chosen.recommended !== undefined && chosen.installed.length === 0 ? (
        <p className="small">
          <Badge tone="info">not installed</Badge> {chosen.title} {chosen.recommended} is installed first.
        </p>
      ) : null}
      {chosen === undefined || chosen.traps.length === 0 ? null : (
        <details className="small quiet">
          <summary>Good to know about {chosen.title}</summary>
          <ul className="new-box-requests">
            {chosen.traps.map((trap) => (
              <li key={trap}>{trap}</li>
            ))}
          </ul>
        </details>
      )}
      <RaceFields draft={draft} agents={agents} agentName={agentName} onChange={onChange} />
      <Chips
        title="Network"
        hint="What the box may reach, beyond what the project says."
        names={[...new Set([...presets, ...chosenPresets])]}
        chosen={chosenPresets}
        onChange={(names) =>
          onChange({
            values: withValue(draft.values, ["network", "presets"], names.length === 0 ? undefined : names),
          })
        }
      />
      <Field
        label="Name"
        hint={
          races
            ? "What the names of all boxes begin with. Empty: race."
            : proposedName === undefined || draft.name !== ""
              ? "Words joined by hyphens."
              : `Empty: ${proposedName}`
        }
        error={nameError}
      >
        <TextInput value={draft.name} onChange={({ target }) => onChange({ name: target.value })} />
      </Field>
      {races ? null : (
        <Switch
          label="Start it at once"
          checked={draft.starts}
          onChange={({ target }) => onChange({ starts: target.checked })}
        />
      )}
    </section>
  );
}

/** One task for several agents, each in a box of its own. */
function RaceFields({
  draft,
  agents,
  agentName,
  onChange,
}: Pick<BasicsProps, "draft" | "agents" | "agentName" | "onChange">) {
  const others = agents.filter(
    ({ kind, isHeadless, name }) => kind === "agent" && isHeadless && name !== agentName,
  );
  const total = (draft.rivals.length + 1) * draft.runs;
  return (
    <details className="new-box-race">
      <summary>
        Race several agents{" "}
        {isRace(draft) ? <Badge tone={total > mostRunners ? "bad" : "accent"}>{total} boxes</Badge> : null}
      </summary>
      <div className="new-box-fields">
        <Chips
          title="Other agents"
          hint="They get the same task, each in a box of its own. Then you compare and keep one. None starts unless all can."
          names={others.map(({ name }) => name)}
          chosen={draft.rivals}
          onChange={(rivals) => onChange({ rivals })}
        />
        <Field label="Runs of each agent">
          <Select value={draft.runs} onChange={({ target }) => onChange({ runs: Number(target.value) })}>
            {[1, 2, 3, 4, 5].map((runs) => (
              <option key={runs} value={runs}>
                {runs}
              </option>
            ))}
          </Select>
        </Field>
      </div>
    </details>
  );
}
