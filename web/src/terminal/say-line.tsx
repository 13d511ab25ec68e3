import { type FormEvent, useState } from "react";
import { client } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { TextInput } from "../parts/field.tsx";
import { useAction } from "../parts/use-action.ts";

/** One line to the agent, without the terminal's keys: for a phone, and for who only wants to say something. */
export function SayLine({ box }: { box: string }) {
  const [text, setText] = useState("");
  const say = useAction((message: string) => client.sendMessage(box, { text: message }), {
    done: "Said.",
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
        aria-label="Say something to the agent"
        placeholder="Say something to the agent"
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
