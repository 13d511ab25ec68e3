import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../api/client.ts";
import { boxQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { Visible } from "../parts/visible.tsx";

const shownLength = 400;

/** The text of the newest message of the agent, from the log; null when there is none. */
async function lastWords(box: string): Promise<string | null> {
  const { events } = await client.listEvents({ box, type: "agent.event", limit: 100, order: "newest" });
  for (const { data } of events) {
    const isMessage = data["kind"] === "message" && data["role"] === "agent";
    const text = data["text"];
    if ((isMessage || data["kind"] === "turn_done") && typeof text === "string" && text.trim() !== "")
      return text;
  }
  return null;
}

/** The task of the agent and its last message: what the diff is compared with. */
export function TaskNote({ box }: { box: string }) {
  const run = useQuery(boxQuery(box)).data?.box.run;
  const { data: words } = useQuery({
    queryKey: ["review", box, "words", run?.turns, run?.state],
    queryFn: () => lastWords(box),
    enabled: run !== undefined,
  });
  if (run?.task === undefined && typeof words !== "string") return null;
  return (
    <dl className="review-task">
      {run?.task === undefined ? null : <Said name="Task" text={run.task} />}
      {typeof words === "string" ? <Said name="Agent" text={words} /> : null}
    </dl>
  );
}

function Said({ name, text }: { name: string; text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > shownLength;
  return (
    <div>
      <dt className="small quiet">{name}</dt>
      <dd>
        <Visible text={isWhole || !isLong ? text : `${text.slice(0, shownLength)} …`} />
        {isLong ? (
          <Button kind="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Show less" : "Show all"}
          </Button>
        ) : null}
      </dd>
    </div>
  );
}
