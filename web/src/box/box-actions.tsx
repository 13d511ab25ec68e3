import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Box } from "../../../src/contract/box.ts";
import { client } from "../api/client.ts";
import { removing } from "../api/live.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { useAction } from "../parts/use-action.ts";
import { useSayRemoved } from "../removal/say-removed.ts";
import { WhatIsLost } from "../removal/what-is-lost.tsx";
import { type BoxVerb, needsForce, verbsFor } from "./box-verbs.ts";
import { ShareDialog } from "./share-dialog.tsx";

const looks: Readonly<Record<BoxVerb, { label: string; icon: IconName }>> = {
  start: { label: "Start", icon: "play" },
  stop: { label: "Stop", icon: "stop" },
  restart: { label: "Restart", icon: "restart" },
  pause: { label: "Pause", icon: "pause" },
  resume: { label: "Resume", icon: "play" },
  interrupt: { label: "Interrupt", icon: "close" },
};

const acts: Readonly<Record<BoxVerb, (name: string) => Promise<unknown>>> = {
  start: (name) => client.startBox(name),
  stop: (name) => client.stopBox(name),
  restart: (name) => client.restartBox(name),
  pause: (name) => client.pauseBox(name),
  resume: (name) => client.resumeBox(name),
  interrupt: (name) => client.interruptAgent(name),
};

/** An action that loses something asks first. */
const questions: Readonly<Partial<Record<BoxVerb, string>>> = {
  stop: "Its processes end. Its files stay.",
  restart: "Its processes end and start again. Its files stay.",
};

function VerbButton({ name, verb }: { name: string; verb: BoxVerb }) {
  const { run, isBusy } = useAction(() => acts[verb](name), { invalidates: [["box", name], ["boxes"]] });
  const { label, icon } = looks[verb];
  const details = questions[verb];
  if (details === undefined)
    return (
      <Button isBusy={isBusy} onClick={() => run()}>
        <Icon name={icon} />
        {label}
      </Button>
    );
  return (
    <ConfirmButton
      question={`${label} ${name}?`}
      confirm={label}
      details={<p>{details}</p>}
      isBusy={isBusy}
      onConfirm={() => run()}
    >
      <Icon name={icon} />
      {label}
    </ConfirmButton>
  );
}

export function RemoveButton({ box }: { box: Pick<Box, "name" | "state"> }) {
  const { name, state } = box;
  const navigate = useNavigate();
  const sayRemoved = useSayRemoved();
  const { run, isBusy } = useAction(() => removing(name, () => client.removeBox(name, { force: true })), {
    invalidates: [["boxes"]],
    onDone: ({ removed }) => {
      sayRemoved(`Removed ${name}.`, [removed]);
      void navigate({ to: "/" });
    },
  });
  return (
    <ConfirmButton
      kind="danger"
      question={`Remove ${name}?`}
      confirm="Remove"
      details={
        <WhatIsLost
          names={[name]}
          note={needsForce(state.phase) ? "It is running; its processes end." : undefined}
        />
      }
      isBusy={isBusy}
      onConfirm={() => run()}
    >
      <Icon name="trash" />
      Remove
    </ConfirmButton>
  );
}

export function BoxActions({ box }: { box: Box }) {
  const { name, state, run } = box;
  const isWorker = useMayOn(name, "work");
  const canWork = useMay("work") && isWorker;
  const isOwn = useMayOn(name, "own");
  const canShare = useMay("approve") && isOwn;
  const [isSharing, setSharing] = useState(false);
  const [isMoreShown, setMoreShown] = useState(false);
  return (
    <div className={`box-actions ${isMoreShown ? "box-actions-open" : ""}`}>
      {canWork
        ? verbsFor(state.phase, run?.state).map((verb) => <VerbButton key={verb} name={name} verb={verb} />)
        : null}
      {canShare ? (
        <Button onClick={() => setSharing(true)}>
          <Icon name="share" />
          Share
        </Button>
      ) : null}
      {canWork && isOwn ? <RemoveButton box={box} /> : null}
      <IconButton
        label={isMoreShown ? "Fewer actions" : "More actions"}
        icon="more"
        className="box-actions-more"
        aria-expanded={isMoreShown}
        onClick={() => setMoreShown(!isMoreShown)}
      />
      {isSharing ? <ShareDialog name={name} onClose={() => setSharing(false)} /> : null}
    </div>
  );
}
