/** A new box: a form that comes from the schemas, and beside it what it means. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { client } from "../api/client.ts";
import { agentsQuery, projectsQuery } from "../api/queries.ts";
import { ErrorNote, Note, PageHeader, Skeleton } from "../parts/note.tsx";
import { useToast } from "../parts/toast.tsx";
import { Aside } from "./aside.tsx";
import { Basics } from "./basics.tsx";
import { Beginnings } from "./beginnings.tsx";
import { commandLine } from "./command-line.ts";
import { CreateButton } from "./create-button.tsx";
import {
  type Draft,
  type Values,
  emptyDraft,
  isRace,
  requestOf,
  valueAt,
  withValue,
  withValues,
} from "./draft.ts";
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
  const isPending = [useQuery(agentsQuery), useQuery(projectsQuery)].some((query) => query.isPending);
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

/** SECURITY: a link can come from anyone. It fills in the form and the page says so; nothing is made. */
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
  const { making, make, race, queue, giveUp, reset } = useMaking();
  const navigate = useNavigate();
  const toast = useToast();

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
  const agentName = typeof name === "string" ? name : check?.summary?.spec.agent.name;
  const agent = agents.find((one) => one.name === agentName);
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
  const races = isRace(draft);
  const typed = {
    ...draft,
    projectDir: draft.projectDir === "" ? "" : dir,
    values: races ? withValue(draft.values, ["agent", "name"], agentName) : draft.values,
  };
  const toml = useMemo(() => formToml(draft.values, schema), [draft.values, schema]);

  const create = async () => {
    keepLast(draft);
    const request = requestOf(draft, check?.project, consent);
    if (races) {
      const others = draft.rivals.filter((one) => one !== agentName);
      const agents = agentName === undefined ? others : [agentName, ...others];
      const started = await race(request, { agents, count: draft.runs });
      if (started === undefined) return;
      toast("Race started", "good");
      return navigate({ to: "/race/$name", params: { name: started } });
    }
    const created = await make(request, typeof name === "string" ? name : undefined);
    if (created === undefined) return;
    const { box, leftBehind, warnings } = created;
    toast("Box created", "good");
    if (leftBehind > 0)
      toast(`${leftBehind} uncommitted ${leftBehind === 1 ? "path was" : "paths were"} not carried in.`);
    for (const warning of warnings) toast(warning);
    return navigate({ to: "/box/$name", params: { name: box.name } });
  };
  const enqueue = async () => {
    keepLast(draft);
    if (!(await queue(requestOf(draft, check?.project, consent), draft.task))) return;
    toast("Added to the queue", "good");
    return navigate({ to: "/queue" });
  };
  const isWorking = making.phase === "working";
  return (
    <div className="new-box-page">
      <div className="parts-stack new-box-form">
        {linked === undefined ? null : (
          <Note tone="warn">
            <strong>A link filled in this form.</strong>
            <span>Nothing has been created. Read it before you press the button, above all the task.</span>
          </Note>
        )}
        {making.phase === "idle" ? (
          <>
            <Basics
              draft={draft}
              agents={agents}
              presets={choices["network.presets"] ?? []}
              nameError={problemOf("box.name_invalid", "box.name_taken")}
              dirError={problemOf("workspace.source_invalid", "file.failed")}
              proposedName={check?.summary?.name}
              agentName={agentName}
              onChange={change}
              onAgent={chooseAgent}
            />
            {trust === undefined ? null : (
              <TrustQuestion question={trust} agreed={agreed} onAgree={setAgreed} />
            )}
            <Beginnings
              values={draft.values}
              onPreset={(values) => change({ values: withValues(draft.values, values) })}
              onDraft={change}
            />
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
              onQueue={() => void enqueue()}
            />
          </>
        ) : (
          <Progress making={making} noun={races ? "race" : "box"} onGiveUp={giveUp} onBack={reset} />
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
      />
      <output className="visually-hidden">
        {isWorking ? (races ? "Creating the race" : "Creating the box") : isCurrent ? "Checked" : "Checking"}
      </output>
    </div>
  );
}

/** Without the fields that are shown elsewhere, and with the options of the agent that was chosen. */
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
