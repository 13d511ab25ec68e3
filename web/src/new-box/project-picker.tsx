import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { KnownProject } from "../../../src/contract/api/schemas/forms.ts";
import { projectsQuery } from "../api/queries.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Field, TextInput } from "../parts/field.tsx";
import { Visible } from "../parts/visible.tsx";

const shownFirst = 4;

interface ProjectPickerProps {
  readonly dir: string;
  readonly error: string | undefined;
  readonly onChange: (dir: string) => void;
}

/** Projects that were used here or that the config lists, and any other directory by its path. */
export function ProjectPicker({ dir, error, onChange }: ProjectPickerProps) {
  const projects = useQuery(projectsQuery).data ?? [];
  const [isAll, setAll] = useState(false);
  const id = useId();
  const shown = isAll ? projects : projects.filter((one, index) => index < shownFirst || one.dir === dir);
  return (
    <div className="new-box-projects">
      {projects.length === 0 ? null : (
        <ul className="new-box-project-list" aria-label="Recent projects">
          {shown.map((project) => (
            <li key={project.dir}>
              <ProjectButton
                project={project}
                isChosen={project.dir === dir}
                onChoose={() => onChange(project.dir === dir ? "" : project.dir)}
              />
            </li>
          ))}
        </ul>
      )}
      {projects.length > shown.length ? (
        <Button kind="quiet" onClick={() => setAll(true)}>
          Show all {projects.length} projects
        </Button>
      ) : null}
      <Field
        label="Project directory"
        hint="Absolute path on this host; its agentbox.toml counts, too. Empty: a box without a project."
        error={error}
      >
        <TextInput className="mono" value={dir} list={id} onChange={({ target }) => onChange(target.value)} />
      </Field>
      <datalist id={id}>
        {projects.map((project) => (
          // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the value is the text of an option in a list of suggestions
          <option key={project.dir} value={project.dir} />
        ))}
      </datalist>
    </div>
  );
}

const lastPart = (path: string) => path.split("/").findLast((part) => part !== "") ?? path;

function ProjectButton({
  project: { dir, branch, boxes, hasManifest },
  isChosen,
  onChoose,
}: {
  project: KnownProject;
  isChosen: boolean;
  onChoose: () => void;
}) {
  return (
    <button type="button" className="new-box-project" aria-pressed={isChosen} title={dir} onClick={onChoose}>
      <strong>
        <Visible text={lastPart(dir)} />
      </strong>
      <span className="small quiet new-box-project-dir">
        <Visible text={dir} />
      </span>
      <span className="small quiet parts-row">
        {branch === undefined ? null : (
          <span className="mono">
            <Visible text={branch} />
          </span>
        )}
        <span>{boxes === 1 ? "1 box" : `${boxes} boxes`}</span>
        {hasManifest ? <Badge tone="info">agentbox.toml</Badge> : <span>no agentbox.toml</span>}
      </span>
    </button>
  );
}
