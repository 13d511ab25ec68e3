import { memo } from "react";
import { Badge } from "../parts/badge.tsx";
import { Visible } from "../parts/visible.tsx";
import type { TimelineRow } from "./event-words.ts";

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

export const EventRow = memo(function EventRow({ row: { event, line, count } }: { row: TimelineRow }) {
  const date = new Date(event.atMs);
  return (
    <div className="box-event">
      <time
        className="box-event-time quiet mono small"
        dateTime={date.toISOString()}
        title={date.toLocaleString()}
      >
        {clock.format(date)}
      </time>
      <span className="box-event-title">
        <Badge tone={line.tone}>
          <Visible text={line.title} />
        </Badge>
        {count > 1 ? <span className="quiet small"> × {count}</span> : null}
      </span>
      <span className="box-event-text">
        <Visible text={line.text} />
      </span>
    </div>
  );
});
