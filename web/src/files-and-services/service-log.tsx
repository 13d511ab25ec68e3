import { useEffect, useRef, useState } from "react";
import { toAgentBoxError } from "../../../src/base/errors.ts";
import { client } from "../api/client.ts";
import { Visible } from "../parts/visible.tsx";
import { plainLog, tailOf } from "./log-text.ts";

const shownLines = 1_000;
/** Output comes in bursts; the page is drawn only a few times a second. */
const drawMs = 150;

type State = "live" | "ended" | "failed";
const words: Record<State, string> = { live: "live", ended: "ended", failed: "connection lost" };

/** The output of a service, as it comes. */
export function ServiceLog({ box, service }: { box: string; service: string }) {
  const [text, setText] = useState("");
  const [state, setState] = useState<State>("live");
  const [problem, setProblem] = useState("");
  const end = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const over = new AbortController();
    let pending = "";
    const draw = (): void => {
      if (pending === "") return;
      const more = pending;
      pending = "";
      setText((before) => tailOf(before + more, shownLines));
    };
    const timer = setInterval(draw, drawMs);
    const follow = async (): Promise<void> => {
      const decoder = new TextDecoder();
      const query = { source: `service:${service}`, tail: shownLines, follow: true };
      for await (const chunk of await client.getLogs(box, query, over.signal))
        pending += plainLog(decoder.decode(chunk, { stream: true }));
    };
    follow().then(
      () => setState("ended"),
      (error: unknown) => {
        if (over.signal.aborted) return;
        setProblem(toAgentBoxError(error).message);
        setState("failed");
      },
    );
    return () => {
      over.abort();
      clearInterval(timer);
    };
  }, [box, service]);
  useEffect(() => {
    const scroller = end.current?.parentElement;
    // Who has scrolled up is reading.
    if (scroller && scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 120)
      end.current?.scrollIntoView({ block: "nearest" });
  }, [text]);
  return (
    <section className="files-log" aria-label={`Output of ${service}`}>
      <header className="files-view-head">
        <h3 className="mono">
          <Visible text={service} />
        </h3>
        <output className="small quiet">
          {words[state]} {problem}
        </output>
      </header>
      <pre className="files-log-text mono" tabIndex={0} aria-label={`Log of ${service}`}>
        {text === "" ? <span className="quiet">No output yet.</span> : <Visible text={text} />}
        <span ref={end} />
      </pre>
    </section>
  );
}
