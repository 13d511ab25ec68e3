import { useQuery } from "@tanstack/react-query";
import { formatDuration, parseDuration } from "../../../src/base/duration.ts";
import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import type { BoxSpec } from "../../../src/contract/box.ts";
import { client } from "../api/client.ts";
import { useMe } from "../api/me.ts";
import { boxesQuery, templatesQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { Field, Select } from "../parts/field.tsx";
import { useToast } from "../parts/toast.tsx";
import type { Draft, Values } from "./draft.ts";
import { readLast } from "./last-form.ts";
import { presets } from "./presets.ts";
import { SaveTemplate } from "./save-template.tsx";

interface BeginningsProps {
  /** The settings of the form now. */
  readonly values: Values;
  readonly onPreset: (values: Values) => void;
  readonly onDraft: (draft: Partial<Draft>) => void;
}

/** Where a form can begin: a preset, another box, or what was asked for last time. */
export function Beginnings({ values, onPreset, onDraft }: BeginningsProps) {
  const boxes = useQuery(boxesQuery).data ?? [];
  const toast = useToast();
  const last = readLast();
  const isOfHost = useMe()?.isAdmin === true;
  const templates = useQuery({ ...templatesQuery, enabled: isOfHost }).data ?? [];
  const copy = async (name: string) => {
    const { box } = await client.getBox(name);
    onDraft({ projectDir: box.projectDir ?? "", values: valuesOf(box.spec) });
    toast(`Filled in from ${name}.`);
  };
  return (
    <details className="parts-card new-box-section">
      <summary>
        <h2>Start from</h2>
        <span className="quiet small new-box-section-hint">
          A preset, a template, another box, or the last form.
        </span>
      </summary>
      <div className="parts-stack new-box-beginnings">
        <div className="new-box-presets">
          {presets.map((preset) => (
            <Button key={preset.name} onClick={() => onPreset(preset.values)} className="new-box-preset">
              <span>{preset.title}</span>
              <span className="small quiet">{preset.description}</span>
            </Button>
          ))}
          {templates.map(({ name, values: own }) => (
            <Button key={`template ${name}`} onClick={() => onPreset(own)} className="new-box-preset">
              <span>{name}</span>
              <span className="small quiet">Your template: {Object.keys(own).join(", ")}.</span>
            </Button>
          ))}
          {last === undefined ? null : (
            <Button onClick={() => onDraft(last)} className="new-box-preset">
              <span>Last used</span>
              <span className="small quiet">The last box that you created in this browser.</span>
            </Button>
          )}
        </div>
        <Field
          label="Like another box"
          hint="Its agent, runtime, workspace, limits and times. What reaches the host comes from the project's manifest again."
        >
          <Select value="" disabled={boxes.length === 0} onChange={({ target }) => void copy(target.value)}>
            <option value="">choose a box</option>
            {boxes.map(({ name, agent }) => (
              <option key={name} value={name}>
                {name} ({agent})
              </option>
            ))}
          </Select>
        </Field>
        <SaveTemplate values={values} />
      </div>
    </details>
  );
}

const exactDuration = (ms: number): string =>
  parseDuration(formatDuration(ms)) === ms ? formatDuration(ms) : `${ms}ms`;

/**
 * SECURITY: mounts, secrets, hosts and variables stay out: a person agreed to them for that box, and a form that
 * repeats them would be an order without a question.
 */
function valuesOf(spec: BoxSpec): Values {
  const { agent, model, workspace, runtime, tier, resources, lifecycle, cache } = spec;
  const asked = (name: BoxSpec["resources"]["required"][number]) => resources.required.includes(name);
  const sections: Record<string, Record<string, unknown>> = {
    agent: {
      name: agent.name,
      autonomy: agent.autonomy,
      ...(agent.args.length === 0 ? {} : { args: agent.args }),
      ...(Object.keys(agent.options).length === 0 ? {} : { options: agent.options }),
    },
    model: model?.name === undefined ? {} : { name: model.name },
    workspace: {
      ...(workspace.url === undefined ? { mode: workspace.mode } : { url: workspace.url }),
      ...(workspace.carry === "none" ? {} : { carry: workspace.carry }),
      ...omitUndefined({ cache }),
    },
    runtime: { name: runtime, ...omitUndefined({ tier }) },
    resources: {
      ...(asked("cpus") ? { cpus: resources.cpus } : {}),
      ...(asked("memory") ? { memory: `${resources.memoryBytes}B` } : {}),
      ...(asked("pids") ? { pids: resources.pids } : {}),
      ...(asked("disk") ? { disk: `${resources.diskBytes}B` } : {}),
    },
    lifecycle: {
      ttl: exactDuration(lifecycle.ttlMs),
      ...(lifecycle.idleMs === undefined ? {} : { idle: exactDuration(lifecycle.idleMs) }),
    },
  };
  return Object.fromEntries(
    Object.entries(sections).filter(([, section]) => Object.keys(section).length > 0),
  );
}
