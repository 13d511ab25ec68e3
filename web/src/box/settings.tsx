/** A box's settings: as it was made, as they hold now, and the actions that change it for good. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Box, Guarantee } from "../../../src/contract/box.ts";
import { client } from "../api/client.ts";
import { useMay, useMayOn, useMe } from "../api/me.ts";
import { Badge } from "../parts/badge.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Field, Select } from "../parts/field.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { useSayRemoved } from "../removal/say-removed.ts";
import { WhatIsLost } from "../removal/what-is-lost.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { RemoveButton } from "./box-actions.tsx";
import { CheckpointsPanel } from "./checkpoints-panel.tsx";
import { Panel } from "./panel.tsx";
import { specFacts, tierText } from "./spec-facts.ts";
import { useBox, useBoxName } from "./use-box.ts";

export function BoxSettingsPage() {
  const name = useBoxName();
  const { data, error } = useBox(name);
  const isOwn = useMayOn(name, "own");
  const canWork = useMay("work");
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={480} />;
  const { box } = data;
  return (
    <div className="parts-stack">
      <div className="box-sections">
        {specFacts(data).map(({ title, rows }) => (
          <Panel key={title} title={title}>
            <dl className="box-rows">
              {rows.map(([label, text], index) => (
                <div key={`${label} ${index}`}>
                  <dt>
                    <Visible text={label} />
                  </dt>
                  <dd>
                    <Visible text={text} />
                  </dd>
                </div>
              ))}
            </dl>
          </Panel>
        ))}
        <IsolationPanel box={box} />
      </div>
      <CheckpointsPanel name={name} isOwn={isOwn} canWork={canWork} />
      <CommandsPanel name={name} />
      {isOwn && canWork ? <MovePanel box={box} /> : null}
      {isOwn ? <DangerPanel box={box} /> : null}
    </div>
  );
}

function IsolationPanel({ box: { isolation } }: { box: Box }) {
  return (
    <Panel title="Isolation">
      <p>
        Tier: <strong>{tierText(isolation.tier)}</strong>
      </p>
      <ul className="box-plain-list">
        {isolation.guarantees.map((guarantee) => (
          <GuaranteeItem key={guarantee.name} guarantee={guarantee} />
        ))}
      </ul>
    </Panel>
  );
}

const GuaranteeItem = ({ guarantee: { name, isEnforced, by } }: { guarantee: Guarantee }) => (
  <li>
    <Badge tone={isEnforced ? "good" : "bad"}>{isEnforced ? "yes" : "no"}</Badge> <Visible text={name} />{" "}
    <span className="quiet small">
      <Visible text={by} />
    </span>
  </li>
);

const commands = (name: string) => [
  [`agentbox attach ${name}`, "its terminal, in yours"],
  [`agentbox exec ${name} -- sh`, "a command in it"],
  [`agentbox cp ${name}:PATH .`, "copy out of it"],
  [`agentbox diff ${name}`, "what it changed"],
  [`agentbox compose ${name}`, "as a docker-compose file that runs without AgentBox"],
  [`agentbox run-locally ${name}`, "as one docker line that runs without AgentBox"],
];

function CommandsPanel({ name }: { name: string }) {
  return (
    <Panel title="On the command line">
      <ul className="box-plain-list">
        {commands(name).map(([command = "", what]) => (
          <li key={command} className="parts-row">
            <code>{command}</code>
            <span className="quiet small">{what}</span>
            <CopyButton text={command} label={`Copy ${command.split(" ")[1]}`} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function MovePanel({ box: { name, spec, state } }: { box: Box }) {
  const isHost = useMe()?.isAdmin ?? false;
  const { data } = useQuery({
    queryKey: ["doctor"],
    queryFn: () => client.getDoctor(),
    enabled: isHost,
    staleTime: 300_000,
  });
  const [runtime, setRuntime] = useState("");
  const { run, isBusy, error } = useAction(() => client.moveBox(name, { runtime }), {
    done: `Moved ${name} to ${runtime}.`,
    invalidates: [["box", name], ["boxes"]],
    isQuiet: true,
  });
  if (!isHost) return null;
  const others = data?.runtimes.filter((one) => one.name !== spec.runtime) ?? [];
  return (
    <Panel title="Move to another runtime">
      <p className="quiet">Its files and identity stay. The box must be stopped.</p>
      <Field label="Runtime">
        <Select value={runtime} onChange={({ target }) => setRuntime(target.value)}>
          <option value="">{spec.runtime} (now)</option>
          {others.map((one) => (
            <option key={one.name} value={one.name} disabled={one.status !== "ready"}>
              {one.name}
              {one.status === "ready" ? "" : ` (${one.status})`}
            </option>
          ))}
        </Select>
      </Field>
      <div>
        <ConfirmButton
          question={`Move ${name} to ${runtime}?`}
          confirm="Move"
          disabled={runtime === "" || state.phase !== "stopped"}
          isBusy={isBusy}
          onConfirm={() => run()}
        >
          Move
        </ConfirmButton>
      </div>
      {error ? <ErrorNote error={error} /> : null}
    </Panel>
  );
}

function DangerPanel({ box }: { box: Box }) {
  const { name } = box;
  const navigate = useNavigate();
  const canReview = useMay("review");
  const canWork = useMay("work");
  const sayRemoved = useSayRemoved();
  const discard = useAction(() => client.discardWork(name), {
    invalidates: [["boxes"]],
    onDone: ({ removed }) => {
      sayRemoved(`Discarded ${name}.`, [removed]);
      void navigate({ to: "/" });
    },
  });
  return (
    <Panel title="Danger" className="box-danger">
      <div className="parts-row">
        {canReview ? (
          <ConfirmButton
            kind="danger"
            question={`Discard the work of ${name}?`}
            confirm="Discard"
            details={<WhatIsLost names={[name]} />}
            isBusy={discard.isBusy}
            onConfirm={() => discard.run()}
          >
            Discard the work
          </ConfirmButton>
        ) : null}
        {canWork ? <RemoveButton box={box} /> : null}
      </div>
    </Panel>
  );
}
