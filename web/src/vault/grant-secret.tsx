/** Lets a box, a project or an agent use a secret: first what exactly would be granted, then the yes. */
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { parseDuration } from "../../../src/base/duration.ts";
import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import { agentOfLogin } from "../../../src/contract/secret/agent-login.ts";
import { client } from "../api/client.ts";
import { agentsQuery, boxesQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, Select, TextInput } from "../parts/field.tsx";
import { ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { scopeText } from "./words.ts";

type Scope = "box" | "project" | "agent";
type Wish = Parameters<typeof client.grantSecret>[0];

const scopes: Readonly<Record<Scope, string>> = {
  box: "one box, for as long as it lives",
  project: "every box of a project",
  agent: "every box of an agent",
};

export function GrantSecret({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Grant</Button>
      <Dialog title={`Let boxes use ${name}`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <GrantForm name={name} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function GrantForm({ name, onDone }: { name: string; onDone: () => void }) {
  const loginOf = agentOfLogin(name);
  const [scope, setScope] = useState<Scope>(loginOf === undefined ? "box" : "agent");
  const [box, setBox] = useState("");
  const [projectDir, setProjectDir] = useState("");
  const [agent, setAgent] = useState(loginOf ?? "");
  const [time, setTime] = useState("");
  const boxes = useQuery(boxesQuery).data ?? [];
  const agents = useQuery(agentsQuery).data ?? [];
  const projects = useQuery({ queryKey: ["projects"], queryFn: () => client.listProjects() }).data ?? [];
  const list = useId();
  const ttlMs = time === "" ? undefined : parseDuration(time);
  const isTimeWrong = time !== "" && ttlMs === undefined;
  // A login is asked for by being one; anything else by a manifest.
  const needsProject = scope === "project" || (scope === "agent" && loginOf === undefined);
  const isComplete =
    (scope !== "box" || box !== "") &&
    (!needsProject || projectDir.startsWith("/")) &&
    (scope !== "agent" || agent !== "");
  const question = useQuery({
    queryKey: ["vault", "preview", name, scope, box, projectDir, agent],
    queryFn: () => ask({ name, scope, box, projectDir, agent, needsProject }),
    enabled: isComplete,
    retry: false,
    staleTime: 0,
  });
  const grant = useAction((wish: Wish) => client.grantSecret({ ...wish, ...omitUndefined({ ttlMs }) }), {
    done: `Granted ${name}.`,
    invalidates: [["vault"]],
    onDone,
  });
  return (
    <div className="parts-stack">
      <Field label="For">
        <Select value={scope} onChange={({ target }) => setScope(target.value as Scope)}>
          {Object.entries(scopes).map(([key, words]) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </Select>
      </Field>
      {scope === "box" ? (
        <Field label="Box">
          <Select value={box} onChange={({ target }) => setBox(target.value)}>
            <option value="">choose a box</option>
            {boxes.map((one) => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
          </Select>
        </Field>
      ) : null}
      {scope === "agent" ? (
        <Field label="Agent">
          <Select value={agent} onChange={({ target }) => setAgent(target.value)}>
            <option value="">choose an agent</option>
            {agents.map((one) => (
              <option key={one.name} value={one.name}>
                {one.title}
              </option>
            ))}
          </Select>
        </Field>
      ) : null}
      {needsProject ? (
        <Field label="Project directory" hint="Its agentbox.toml says how the secret is used.">
          <TextInput
            className="mono"
            list={list}
            value={projectDir}
            onChange={({ target }) => setProjectDir(target.value)}
          />
        </Field>
      ) : null}
      <datalist id={list}>
        {projects.map(({ dir }) => (
          // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the value is the text of an option in a list of suggestions
          <option key={dir} value={dir} />
        ))}
      </datalist>
      <Field
        label="For how long"
        hint="Empty: until you revoke it."
        error={isTimeWrong ? "Write it like 90s, 1h30m, 5d." : undefined}
      >
        <TextInput value={time} onChange={({ target }) => setTime(target.value)} />
      </Field>
      <div className="vault-preview" aria-live="polite">
        {!isComplete ? (
          <p className="quiet">Choose who it is for, to see what exactly is granted.</p>
        ) : question.error ? (
          <ErrorNote error={question.error} />
        ) : question.data === undefined ? (
          <Skeleton height={72} />
        ) : (
          <Note tone="warn">
            {question.data.grants.map((one) => (
              <span key={one.use}>
                <strong>
                  <Visible text={scopeText(one.scope)} />
                </strong>{" "}
                may <Visible text={one.sentence} />
              </span>
            ))}
          </Note>
        )}
      </div>
      <div className="parts-actions">
        <Button
          kind="primary"
          disabled={question.data === undefined || question.isFetching || isTimeWrong}
          isBusy={grant.isBusy}
          onClick={() => question.data && grant.run(question.data.wish)}
        >
          Grant exactly this
        </Button>
      </div>
    </div>
  );
}

interface Asked {
  readonly name: string;
  readonly scope: Scope;
  readonly box: string;
  readonly projectDir: string;
  readonly agent: string;
  readonly needsProject: boolean;
}

/** SECURITY: the wish that is granted is the one that was shown, with the manifest as it was read for it. */
async function ask({ name, scope, box, projectDir, agent, needsProject }: Asked) {
  const project = needsProject ? (await client.checkManifest({ projectDir })).project : undefined;
  const wish: Wish = {
    name,
    scope,
    ...(scope === "box" ? { box } : {}),
    ...(scope === "agent" ? { agent } : {}),
    ...omitUndefined({ projectDir: project?.dir, manifest: project?.manifest }),
  };
  return { wish, grants: await client.grantSecret({ ...wish, isPreview: true }) };
}
