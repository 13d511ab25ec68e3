import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import type { SessionStatus } from "../../../src/contract/link/messages.ts";
import { client } from "../api/client.ts";
import { useMayOn } from "../api/me.ts";
import { boxesQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { Empty, ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { LastOutput } from "./last-output.tsx";
import { firstSession, nextShellName, sessionsQuery } from "./sessions.ts";
import { TerminalView } from "./terminal-view.tsx";
import { TextInput } from "../parts/field.tsx";

/** One line to the agent, without the terminal's keys: for a phone, and for who only wants to say something. */
function SayLine({ box }: { box: string }) {
  const [text, setText] = useState("");
  const say = useAction((message: string) => client.sendMessage(box, { text: message }), {
    done: "Message sent.",
    onDone: () => setText(""),
  });
  const interrupt = useAction(() => client.interruptAgent(box), { done: "Interrupted." });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") say.run(text);
  };
  return (
    <form className="terminal-say" onSubmit={submit}>
      <TextInput
        aria-label="Message to the agent"
        placeholder="Message to the agent"
        value={text}
        maxLength={65_536}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button type="submit" kind="primary" isBusy={say.isBusy}>
        Send
      </Button>
      <Button isBusy={interrupt.isBusy} onClick={() => interrupt.run()}>
        Interrupt
      </Button>
    </form>
  );
}

/** The tab of a box: its sessions, one of them in a terminal. */
export function TerminalPage() {
  const { name = "" } = useParams({ strict: false });
  const boxes = useQuery(boxesQuery);
  const box = boxes.data?.find((one) => one.name === name);
  if (boxes.error) return <ErrorNote error={boxes.error} />;
  if (!boxes.data) return <Skeleton height={520} label="Loading the box" />;
  if (box?.phase === "running") return <RunningBox box={name} hasAgent={box.agent !== "shell"} />;
  return <StoppedBox box={name} phase={box?.phase ?? "gone"} />;
}

function StoppedBox({ box, phase }: { box: string; phase: string }) {
  const mayStart = useMayOn(box, "work");
  const start = useAction(() => client.startBox(box), { invalidates: [["boxes"], ["box", box]] });
  return (
    <div className="terminal-page">
      <Note>
        <span>The box is {phase}. This is the last output of its main session.</span>
        {mayStart && phase === "stopped" ? (
          <span>
            <Button kind="primary" isBusy={start.isBusy} onClick={() => start.run()}>
              Start the box
            </Button>
          </span>
        ) : null}
      </Note>
      <LastOutput box={box} source="main" />
    </div>
  );
}

function RunningBox({ box, hasAgent }: { box: string; hasAgent: boolean }) {
  const mayWork = useMayOn(box, "work");
  const { data: sessions, error } = useQuery(sessionsQuery(box));
  const [chosen, setChosen] = useState<string>();
  const start = useAction(
    (session: string) => client.startSession(box, { session, spec: { terminal: true, cols: 80, rows: 24 } }),
    { invalidates: [["box", box, "sessions"]], onDone: (_answer, session) => setChosen(session) },
  );
  if (error) return <ErrorNote error={error} />;
  if (!sessions) return <Skeleton height={520} label="Loading the sessions" />;
  const shown = chosen ?? firstSession(sessions);
  const current = sessions.find(({ id }) => id === shown);
  const newShell = mayWork ? (
    <Button isBusy={start.isBusy} onClick={() => start.run(nextShellName(sessions))}>
      New shell
    </Button>
  ) : null;
  return (
    <div className="terminal-page">
      <fieldset className="terminal-sessions" aria-label="Sessions">
        {sessions.map((session) => (
          <Button
            key={session.id}
            kind="quiet"
            aria-pressed={session.id === shown}
            onClick={() => setChosen(session.id)}
          >
            {session.id}
            {session.state === "ended" ? <span className="quiet small"> ended</span> : null}
            {session.viewers > 1 ? <span className="quiet small"> {session.viewers} watching</span> : null}
          </Button>
        ))}
        {newShell}
      </fieldset>
      {shown === undefined ? (
        <Empty title="No session runs in this box">
          <p>A shell keeps running when you leave this page.</p>
        </Empty>
      ) : (
        <TerminalView
          key={`${shown}-${current?.startedAtMs ?? 0}`}
          box={box}
          session={shown}
          takesFocus={chosen === shown}
        />
      )}
      {mayWork && current?.state === "ended" ? (
        <EndedSession session={current} onAgain={() => start.run(current.id)} isBusy={start.isBusy} />
      ) : null}
      {mayWork && hasAgent ? <SayLine box={box} /> : null}
    </div>
  );
}

interface EndedProps {
  session: SessionStatus;
  onAgain: () => void;
  isBusy: boolean;
}

function EndedSession({ session, onAgain, isBusy }: EndedProps) {
  return (
    <div className="parts-row">
      <span className="quiet">
        This session has ended. You see its last screen.
        {session.id === "main" ? " The agent starts again with the box." : ""}
      </span>
      {session.id === "main" ? null : (
        <Button isBusy={isBusy} onClick={onAgain}>
          Start a shell in its place
        </Button>
      )}
    </div>
  );
}
