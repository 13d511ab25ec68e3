import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import type { AgentInfo } from "../../../src/contract/api/schemas.ts";
import { client } from "../api/client.ts";
import { Field, Select, Switch, TextArea, TextInput } from "../parts/field.tsx";
import { Badge } from "../parts/badge.tsx";
import { type Draft, valueAt } from "./draft.ts";

const projectsQuery = { queryKey: ["projects"], queryFn: () => client.listProjects() };

interface BasicsProps {
  readonly draft: Draft;
  readonly agents: readonly AgentInfo[];
  readonly nameError: string | undefined;
  readonly dirError: string | undefined;
  readonly proposedName: string | undefined;
  readonly onChange: (change: Partial<Draft>) => void;
  readonly onAgent: (name: string | undefined) => void;
}

/** What nearly everybody fills in: who works, where, on what. */
export function Basics({ draft, agents, nameError, dirError, proposedName, onChange, onAgent }: BasicsProps) {
  const projects = useQuery(projectsQuery).data ?? [];
  const list = useId();
  const name = valueAt(draft.values, ["agent", "name"]);
  const chosen = agents.find((one) => one.name === name);
  return (
    <section className="parts-card new-box-fields" aria-label="The box">
      <Field label="Agent" hint={chosen?.description ?? "Who works in the box."}>
        <Select
          value={typeof name === "string" ? name : ""}
          onChange={({ target }) => onAgent(target.value === "" ? undefined : target.value)}
        >
          <option value="">as the project or your config says</option>
          {agents.map((one) => (
            <option key={one.name} value={one.name}>
              {one.title}
              {one.origin === "user" ? " (yours)" : ""}
            </option>
          ))}
        </Select>
      </Field>
      {chosen === undefined || chosen.traps.length === 0 ? null : (
        <details className="small quiet">
          <summary>What surprises people about it</summary>
          <ul className="new-box-requests">
            {chosen.traps.map((trap) => (
              <li key={trap}>{trap}</li>
            ))}
          </ul>
        </details>
      )}
      <Field
        label="Project directory"
        hint="Absolute path on this host. Its agentbox.toml counts, too. Empty: a box without a project."
        error={dirError}
      >
        <TextInput
          className="mono"
          value={draft.projectDir}
          list={list}
          onChange={({ target }) => onChange({ projectDir: target.value })}
        />
      </Field>
      <datalist id={list}>
        {projects.map(({ dir, boxes }) => (
          <option key={dir} value={dir}>
            {boxes === 1 ? "1 box" : `${boxes} boxes`}
          </option>
        ))}
      </datalist>
      <Field label="Task" hint="What the agent is to do on its own. Empty: it waits for you in its terminal.">
        <TextArea rows={3} value={draft.task} onChange={({ target }) => onChange({ task: target.value })} />
      </Field>
      <Field
        label="Name"
        hint={
          proposedName === undefined || draft.name !== ""
            ? "Words joined by hyphens."
            : `Empty: ${proposedName}`
        }
        error={nameError}
      >
        <TextInput value={draft.name} onChange={({ target }) => onChange({ name: target.value })} />
      </Field>
      <Switch
        label="Start it at once"
        checked={draft.starts}
        onChange={({ target }) => onChange({ starts: target.checked })}
      />
      {chosen?.kind === "agent" && chosen.recommended !== undefined && chosen.installed.length === 0 ? (
        <p className="small">
          <Badge tone="info">not installed</Badge> {chosen.title} {chosen.recommended} is installed first.
        </p>
      ) : null}
    </section>
  );
}
