import { memo, type RefObject } from "react";
import type { BoxWord } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { SearchInput, Select, Switch } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { type Order, words } from "./arrange.ts";
import type { Choices } from "./use-choices.ts";

interface ToolbarProps {
  readonly choices: Choices;
  readonly choose: (change: Partial<Choices>) => void;
  readonly total: number;
  readonly counts: ReadonlyMap<BoxWord, number>;
  readonly agents: readonly string[];
  readonly projects: readonly string[];
  readonly search: RefObject<HTMLInputElement | null>;
}

const lastPart = (path: string) => path.split("/").findLast((part) => part !== "") ?? path;

export const Toolbar = memo(function Toolbar({
  choices,
  choose,
  total,
  counts,
  agents,
  projects,
  search,
}: ToolbarProps) {
  const { view, state } = choices;
  return (
    <search className="fleet-toolbar">
      <fieldset className="fleet-states" aria-label="State">
        <button
          type="button"
          aria-pressed={state === ""}
          className="fleet-state"
          onClick={() => choose({ state: "" })}
        >
          all <b>{total}</b>
        </button>
        {words
          .filter((word) => counts.has(word) || word === state)
          .map((word) => (
            <button
              key={word}
              type="button"
              className="fleet-state"
              aria-pressed={state === word}
              onClick={() => choose({ state: state === word ? "" : word })}
            >
              {word} <b>{counts.get(word) ?? 0}</b>
            </button>
          ))}
      </fieldset>
      <div className="fleet-tools">
        <SearchInput
          ref={search}
          label="Search boxes"
          placeholder="Search: name, agent, branch …   /"
          value={choices.search}
          onChange={(event) => choose({ search: event.target.value })}
          onKeyDown={(event) => {
            if (event.key !== "Escape" && event.key !== "Enter") return;
            if (event.key === "Escape") choose({ search: "" });
            event.currentTarget.blur();
          }}
        />
        <Select
          aria-label="Agent"
          value={choices.agent}
          disabled={agents.length < 2 && choices.agent === ""}
          onChange={(event) => choose({ agent: event.target.value })}
        >
          <option value="">Every agent</option>
          {agents.map((agent) => (
            <option key={agent}>{agent}</option>
          ))}
        </Select>
        <Select
          aria-label="Project"
          value={choices.project}
          disabled={projects.length < 2 && choices.project === ""}
          onChange={(event) => choose({ project: event.target.value })}
        >
          <option value="">Every project</option>
          {projects.map((project) => (
            <option key={project} value={project} title={project}>
              {lastPart(project)}
            </option>
          ))}
        </Select>
        <Select
          aria-label="Order"
          value={choices.order}
          onChange={(event) => choose({ order: event.target.value as Order })}
        >
          <option value="attention">Attention first</option>
          <option value="name">By name</option>
          <option value="newest">Newest first</option>
          <option value="cost">Most expensive first</option>
        </Select>
        <Switch
          label="Group by name"
          checked={choices.isGrouped}
          onChange={(event) => choose({ isGrouped: event.target.checked })}
        />
        <fieldset className="fleet-views" aria-label="View">
          <Button
            aria-pressed={view === "cards"}
            aria-label="Cards"
            title="Cards"
            onClick={() => choose({ view: "cards" })}
          >
            <Icon name="grid" />
          </Button>
          <Button
            aria-pressed={view === "table"}
            aria-label="Table"
            title="Table"
            onClick={() => choose({ view: "table" })}
          >
            <Icon name="list" />
          </Button>
        </fieldset>
      </div>
    </search>
  );
});
