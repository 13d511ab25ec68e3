import { useState } from "react";
import type { Box } from "../../../src/contract/box.ts";
import { client } from "../api/client.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { For, Left } from "../parts/amount.tsx";
import { StateBadge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Field, TextArea } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { Panel } from "./panel.tsx";
import { stateFacts } from "./use-box.ts";

const longTask = 600;

export function AgentPanel({ box }: { box: Box }) {
  const { run, name, spec } = box;
  const isWorker = useMayOn(name, "work");
  const canWork = useMay("work") && isWorker;
  if (!run)
    return (
      <Panel title="Agent" className="box-agent">
        <p className="quiet">This box runs commands; no agent has been started in it.</p>
      </Panel>
    );
  return (
    <Panel title="Agent" className="box-agent">
      <p className="parts-row">
        <StateBadge box={stateFacts(box)} />
        <span className="quiet">
          <Visible text={spec.agent.name} /> <For sinceMs={run.stateSinceMs} />
          {run.deadlineMs === undefined || run.verdict !== undefined ? null : (
            <>
              , <Left untilMs={run.deadlineMs} />
            </>
          )}
        </span>
      </p>
      {run.why === undefined ? null : (
        <p>
          <Visible text={run.why} />
        </p>
      )}
      {run.task === undefined ? null : <Task text={run.task} />}
      {canWork ? <Say name={name} /> : null}
    </Panel>
  );
}

function Task({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(text.length <= longTask);
  return (
    <div>
      <h3>Task</h3>
      <pre className="box-task">
        <Visible text={isWhole ? text : `${text.slice(0, longTask)} …`} />
      </pre>
      {isWhole ? null : (
        <Button kind="quiet" onClick={() => setWhole(true)}>
          Show all
        </Button>
      )}
    </div>
  );
}

/** Typed into the agent's terminal, or the next task of its conversation. */
function Say({ name }: { name: string }) {
  const [text, setText] = useState("");
  const { run, isBusy } = useAction(() => client.sendMessage(name, { text }), {
    done: "Message sent.",
    invalidates: [["box", name], ["boxes"]],
    onDone: () => setText(""),
  });
  return (
    <form
      className="parts-stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") run();
      }}
    >
      <Field label="Message to the agent">
        <TextArea rows={2} value={text} onChange={({ target }) => setText(target.value)} />
      </Field>
      <div>
        <Button type="submit" isBusy={isBusy} disabled={text.trim() === ""}>
          <Icon name="send" />
          Send
        </Button>
      </div>
    </form>
  );
}
