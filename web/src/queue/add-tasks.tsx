import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { toAgentBoxError } from "../../../src/base/errors.ts";
import { client } from "../api/client.ts";
import { agentsQuery, projectsQuery, queueQuery } from "../api/queries.ts";
import { addToQueue } from "../new-box/add-to-queue.ts";
import { Button } from "../parts/button.tsx";
import { Field, Select, TextArea, TextInput } from "../parts/field.tsx";
import { ErrorNote } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";

/** One task a line, all for the same agent and project. */
export function AddTasks() {
  const agents = (useQuery(agentsQuery).data ?? []).filter(
    ({ isHeadless, kind }) => isHeadless && kind === "agent",
  );
  const projects = useQuery(projectsQuery).data ?? [];
  const [text, setText] = useState("");
  const [agent, setAgent] = useState("");
  const [dir, setDir] = useState("");
  const [step, setStep] = useState("");
  const tasks = text.split("\n").flatMap((line) => line.trim() || []);
  const add = useAction(
    async () => {
      const flags = agent === "" ? {} : { agent: { name: agent } };
      const { project } = await client.checkManifest({ ...(dir === "" ? {} : { projectDir: dir }), flags });
      const request = {
        flags,
        ...(project === undefined ? {} : { projectDir: project.dir }),
        ...(project?.manifest === undefined ? {} : { manifest: { ...project.manifest } }),
      };
      await addToQueue(request, tasks, ({ title }) => setStep(title), new AbortController().signal);
    },
    {
      done: tasks.length === 1 ? "Added 1 task" : `Added ${tasks.length} tasks`,
      invalidates: [queueQuery.queryKey],
      isQuiet: true,
      onDone: () => setText(""),
    },
  );
  const isEmpty = tasks.length === 0;
  return (
    <form
      className="parts-card parts-stack"
      onSubmit={(event) => {
        event.preventDefault();
        add.run();
      }}
    >
      <Field label="Tasks" hint="One a line. Each gets a box of its own.">
        <TextArea rows={3} value={text} onChange={({ target }) => setText(target.value)} />
      </Field>
      <div className="queue-add-fields">
        <Field label="Agent">
          <Select value={agent} onChange={({ target }) => setAgent(target.value)}>
            <option value="">as the project says</option>
            {agents.map(({ name, title }) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Project directory">
          <TextInput
            className="mono"
            list="queue-projects"
            value={dir}
            onChange={({ target }) => setDir(target.value)}
          />
        </Field>
      </div>
      <datalist id="queue-projects">
        {projects.map((project) => (
          // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the value is the text of an option in a list of suggestions
          <option key={project.dir} value={project.dir} />
        ))}
      </datalist>
      {add.error === null ? null : <ErrorNote error={toAgentBoxError(add.error)} />}
      <div className="parts-row">
        <Button kind="primary" type="submit" disabled={isEmpty} isBusy={add.isBusy}>
          {tasks.length > 1 ? `Add ${tasks.length} tasks` : "Add task"}
        </Button>
        <Link to="/new" search={{ agent: undefined, project: undefined, task: undefined }}>
          With a budget, a name or other settings
        </Link>
        <span className="small quiet" aria-live="polite">
          {add.isBusy ? step : ""}
        </span>
      </div>
    </form>
  );
}
