/** A new box: a form that comes from the schemas, and beside it what it means. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { client } from "../api/client.ts";
import { agentsQuery } from "../api/queries.ts";
import { ErrorNote, Note, PageHeader, Skeleton } from "../parts/note.tsx";
import { Aside } from "./aside.tsx";
import { Basics } from "./basics.tsx";
import { Beginnings } from "./beginnings.tsx";
import { commandLine } from "./command-line.ts";
import { CreateButton } from "./create-button.tsx";
import { type Draft, type Values, emptyDraft, requestOf, valueAt, withValue, withValues } from "./draft.ts";
import { ProblemsContext } from "./form-context.ts";
import { formToml } from "./form-toml.ts";
import { keepLast } from "./last-form.ts";
import { Progress } from "./progress.tsx";
import { type Schema, fieldOf } from "./schema-fields.ts";
import { Sections } from "./sections.tsx";
import { TrustQuestion } from "./trust-question.tsx";
import { useCheck } from "./use-check.ts";
import { useMaking } from "./use-making.ts";

const schemaQuery = {
  queryKey: ["manifest-schema"],
  queryFn: () => client.getManifestSchema(),
  staleTime: 300_000,
};

const route = getRouteApi("/new");

export function NewBoxPage() {
  const { data, error } = useQuery(schemaQuery);
  const { isPending } = useQuery(agentsQuery);
  const search = route.useSearch();
  if (error) return <ErrorNote error={error} />;
  return (
    <div className="parts-stack">
      <PageHeader title="New box" />
      {data === undefined || isPending ? (
        <Skeleton height={640} />
      ) : (
        // Another link is another form.
        <Form
          key={JSON.stringify(search)}
          schema={data.schema}
          choices={data.choices}
          linked={draftOf(search)}
        />
      )}
    </div>
  );
}

/** SECURITY: a link can come from anybody. It fills the form in and is named as what it is; nothing is made. */
function draftOf({
  agent,
  project,
  task,
}: {
  agent?: string | undefined;
  project?: string | undefined;
  task?: string | undefined;
}): Draft | undefined {
  if (agent === undefined && project === undefined && task === undefined) return undefined;
  return {
    ...emptyDraft,
    projectDir: project ?? "",
    task: task ?? "",
    values: agent === undefined ? {} : { agent: { name: agent } },
  };
}

interface FormProps {
  readonly schema: Schema;
  readonly choices: Readonly<Record<string, readonly string[]>>;
  readonly linked: Draft | undefined;
}

function Form({ schema, choices, linked }: FormProps) {
  const [draft, setDraft] = useState<Draft>(linked ?? emptyDraft);
  const [agreed, setAgreed] = useState<string>();
  const agents = useQuery(agentsQuery).data ?? [];
  const { check, isCurrent, error } = useCheck(draft);
  const { making, make, giveUp, reset } = useMaking();

  const change = (more: Partial<Draft>) => setDraft((now) => ({ ...now, ...more }));
  const setSection = useCallback(
    (name: string, value: unknown) =>
      setDraft((now) => ({ ...now, values: withValue(now.values, [name], value) })),
    [],
  );
  // Options and a version belong to one agent.
  const chooseAgent = (name: string | undefined) =>
    setDraft((now) => ({
      ...now,
      values: ["options", "version"].reduce<Values>(
        (values, key) => withValue(values, ["agent", key], undefined),
        withValue(now.values, ["agent", "name"], name),
      ),
    }));

  const name = valueAt(draft.values, ["agent", "name"]);
  const agent = agents.find((one) => one.name === (name ?? check?.summary?.spec.agent.name));
  const options = agent?.options as Schema | undefined;
  const root = useMemo(() => rootField(schema, choices, options), [schema, choices, options]);
  const problems = useMemo(
    () =>
      new Map(
        (check?.findings ?? [])
          .filter((finding) => finding.in === "form")
          .map(({ path, message, hint }) => [path, `${message} ${hint}`]),
      ),
    [check?.findings],
  );
  const wrong = new Set([...problems.keys()].map((path) => path.split(/[.[]/)[0]!));
  const problemOf = (...codes: string[]) => check?.problems.find(({ code }) => codes.includes(code))?.message;

  const { trust } = check ?? {};
  const digest = trust !== undefined && !trust.isTrusted ? trust.digest : undefined;
  const consent = digest !== undefined && agreed === digest ? digest : undefined;
  const dir = check?.project?.dir ?? draft.projectDir;
  const typed = { ...draft, projectDir: draft.projectDir === "" ? "" : dir };
  const toml = useMemo(() => formToml(draft.values, schema), [draft.values, schema]);

  const create = () => {
    keepLast(draft);
    return make(requestOf(draft, check?.project, consent), typeof name === "string" ? name : undefined);
  };
  const isWorking = making.phase === "working";
  return (
    <div className="new-box-page">
      <div className="parts-stack new-box-form">
        {linked === undefined ? null : (
          <Note tone="warn">
            <strong>A link filled this form in.</strong>
            <span>Nothing has been made. Read it before you press the button, above all the task.</span>
          </Note>
        )}
        {making.phase === "idle" ? (
          <>
            <Beginnings
              onPreset={(values) => change({ values: withValues(draft.values, values) })}
              onDraft={change}
            />
            <Basics
              draft={draft}
              agents={agents}
              nameError={problemOf("box.name_invalid", "box.name_taken")}
              dirError={problemOf("workspace.source_invalid", "file.failed")}
              proposedName={check?.summary?.name}
              onChange={change}
              onAgent={chooseAgent}
            />
            {trust === undefined ? null : (
              <TrustQuestion question={trust} agreed={agreed} onAgree={setAgreed} />
            )}
            <ProblemsContext value={problems}>
              <Sections root={root} values={draft.values} wrong={wrong} onSection={setSection} />
            </ProblemsContext>
            <CreateButton
              draft={draft}
              check={check}
              isCurrent={isCurrent}
              needsTrust={digest !== undefined && consent === undefined}
              isLinked={linked !== undefined}
              onCreate={() => void create()}
            />
          </>
        ) : (
          <Progress making={making} onGiveUp={giveUp} onBack={reset} />
        )}
      </div>
      <Aside
        check={check}
        isCurrent={isCurrent}
        error={error}
        toml={toml}
        command={commandLine(typed, consent)}
        createCommand={commandLine(
          { ...typed, starts: false, name: draft.name || (check?.summary?.name ?? "") },
          consent,
        )}
        madeBox={making.phase === "done" ? making.created.box.name : undefined}
      />
      <span className="visually-hidden" role="status">
        {isWorking ? "Making the box" : isCurrent ? "Checked" : "Checking"}
      </span>
    </div>
  );
}

/** Without what has a place of its own, and with the options of the agent that was chosen. */
function rootField(schema: Schema, choices: FormProps["choices"], options: Schema | undefined) {
  const root = fieldOf(schema, [], {
    choices,
    ...(options === undefined ? {} : { instead: { "agent.options": options } }),
  });
  if (root.kind !== "object") return root;
  const members = root.members
    .filter(({ key }) => key !== "version")
    .map((member) =>
      member.key === "agent" && member.field.kind === "object"
        ? {
            ...member,
            field: { ...member.field, members: member.field.members.filter(({ key }) => key !== "name") },
          }
        : member,
    );
  return { ...root, members };
}
