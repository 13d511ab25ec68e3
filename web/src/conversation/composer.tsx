import { useState } from "react";
import type { Box } from "../../../src/contract/box.ts";
import { client } from "../api/client.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { Button } from "../parts/button.tsx";
import { TextArea } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { useAction } from "../parts/use-action.ts";

/** Typed into the agent's terminal, or the next task of its conversation. */
export function Composer({ box: { name, run, state } }: { box: Box }) {
  const [text, setText] = useState("");
  const isWorker = useMayOn(name, "work");
  const canWork = useMay("work") && isWorker;
  const { run: send, isBusy } = useAction(() => client.sendMessage(name, { text }), {
    invalidates: [["box", name], ["boxes"]],
    onDone: () => setText(""),
  });
  if (!canWork) return null;
  const isAtWork = run?.mode === "headless" && state.phase === "running";
  const isEmpty = text.trim() === "";
  return (
    <form
      className="talk-composer"
      aria-label="Message to the agent"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty && !isAtWork) send();
      }}
    >
      <TextArea
        rows={2}
        aria-label="Message to the agent"
        placeholder={
          isAtWork ? "The agent works on its task. Write now, send when it is done." : "Ask for more"
        }
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit();
        }}
      />
      <Button type="submit" kind="primary" isBusy={isBusy} disabled={isEmpty || isAtWork} title="Ctrl Enter">
        <Icon name="send" />
        Send
      </Button>
    </form>
  );
}
