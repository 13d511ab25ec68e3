import { useEffect, useRef, useState } from "react";
import { client } from "../api/client.ts";
import { ErrorNote } from "../parts/note.tsx";
import { readFontSize } from "./preferences.ts";
import { TerminalScreen } from "./screen.ts";

const lines = 500;

/** The end of a session's output, for a box that runs no more. It is drawn by a terminal without input. */
export function LastOutput({ box, source }: { box: string; source: string }) {
  const host = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (!host.current) return undefined;
    const ignore = () => undefined;
    const events = { typed: ignore, bytes: ignore, link: ignore, title: ignore, copy: ignore };
    const screen = new TerminalScreen(host.current, {
      fontSize: readFontSize(),
      isCompact: true,
      isReadOnly: true,
      events,
    });
    const end = new AbortController();
    const show = async () => {
      screen.resize(screen.ownSize);
      for await (const chunk of await client.getLogs(box, { source, tail: lines }, end.signal))
        screen.terminal.write(chunk);
    };
    show().catch((problem: unknown) => {
      if (!end.signal.aborted) setError(problem);
    });
    return () => {
      end.abort();
      screen.dispose();
    };
  }, [box, source]);
  return (
    <section className="terminal-view" aria-label={`Last output of ${source}`}>
      {error === undefined ? null : <ErrorNote error={error} />}
      <div className="terminal-host" data-phase="recorded" ref={host} />
    </section>
  );
}
