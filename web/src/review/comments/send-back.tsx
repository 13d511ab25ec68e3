import { useState } from "react";
import { client } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, TextArea } from "../../parts/field.tsx";
import { useAction } from "../../parts/use-action.ts";

/** The work is not good enough yet: the agent gets told, and goes on. */
export function SendBack({ box, onClose, onSent }: { box: string; onClose: () => void; onSent: () => void }) {
  const [text, setText] = useState("");
  const send = useAction(() => client.sendMessage(box, { text }), {
    done: `Sent back to the agent in ${box}.`,
    invalidates: [["boxes"]],
    onDone: onSent,
  });
  return (
    <Dialog
      title={`Send ${box} back`}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={text.trim() === ""}
            isBusy={send.isBusy}
            onClick={() => send.run()}
          >
            Send
          </Button>
        </>
      }
    >
      <Field label="What should be different" hint="Comments on lines are sent with their own button.">
        {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is about this field */}
        <TextArea autoFocus rows={4} value={text} onChange={({ target }) => setText(target.value)} />
      </Field>
    </Dialog>
  );
}
