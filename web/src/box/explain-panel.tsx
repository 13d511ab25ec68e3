import { useEffect, useRef, useState } from "react";
import type { Explanation } from "../../../src/contract/api/schemas.ts";
import { client } from "../api/client.ts";
import { Badge, type Tone } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Field, Select, TextInput } from "../parts/field.tsx";
import { ErrorNote } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { Panel } from "./panel.tsx";

const tones: Readonly<Record<Explanation["verdict"], Tone>> = { allow: "good", ask: "warn", deny: "bad" };
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

export interface Asked {
  readonly url: string;
  readonly method: string;
}

/** Whether a request would pass, by which rule, and how to change that. */
export function ExplainPanel({ name, asked }: { name: string; asked: Asked | undefined }) {
  const [url, setUrl] = useState("");
  const [method, setMethod] = useState("GET");
  const [answer, setAnswer] = useState<Explanation>();
  const position = useRef<HTMLFormElement>(null);
  const { run, isBusy, error } = useAction((request: Asked) => client.explainPolicy(name, request), {
    onDone: setAnswer,
    isQuiet: true,
  });
  useEffect(() => {
    if (asked === undefined) return;
    setUrl(asked.url);
    if (methods.includes(asked.method)) setMethod(asked.method);
    run(asked);
    position.current?.scrollIntoView({ block: "nearest" });
  }, [asked, run]);
  return (
    <Panel title="Why?">
      <form
        ref={position}
        className="parts-row box-explain"
        onSubmit={(event) => {
          event.preventDefault();
          if (url.trim() !== "") run({ url: url.trim(), method });
        }}
      >
        <Field label="Method">
          <Select value={method} onChange={({ target }) => setMethod(target.value)}>
            {methods.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </Select>
        </Field>
        <Field label="Address">
          <TextInput
            value={url}
            placeholder="https://host/path or host:port"
            onChange={({ target }) => setUrl(target.value)}
          />
        </Field>
        <Button type="submit" isBusy={isBusy} disabled={url.trim() === ""}>
          Explain
        </Button>
      </form>
      <div aria-live="polite">
        {error ? <ErrorNote error={error} /> : null}
        {answer && !error ? <Answer answer={answer} /> : null}
      </div>
    </Panel>
  );
}

function Answer({
  answer: { verdict, sentence, howToChange, rule, layer, file, line },
}: {
  answer: Explanation;
}) {
  const position = [layer, file, line].filter((part) => part !== undefined).join(":");
  return (
    <div className="parts-stack">
      <p>
        <Badge tone={tones[verdict]}>{verdict}</Badge> <Visible text={sentence} />
      </p>
      {rule === undefined && position === "" ? null : (
        <p className="quiet small mono">
          <Visible text={[rule, position].filter(Boolean).join(", ")} />
        </p>
      )}
      <p className="quiet">
        <Visible text={howToChange} />
      </p>
    </div>
  );
}
