import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Visible } from "../parts/visible.tsx";
import type { Paste } from "./paste.ts";

const reasons = {
  lines:
    "It has more than one line, and the program does not know that it is pasted: each line may run at once.",
  controls: "It has control characters, which act like keys.",
} as const;

const shownCharacters = 4_000;

interface QuestionProps {
  paste: Paste | undefined;
  onAnswer: (isWanted: boolean) => void;
}

/** Shows what the clipboard holds before it becomes input. */
export function PasteQuestion({ paste, onAnswer }: QuestionProps) {
  const cut = paste && paste.text.length > shownCharacters ? paste.text.length - shownCharacters : 0;
  return (
    <Dialog
      title="Paste this?"
      isOpen={paste !== undefined}
      onClose={() => onAnswer(false)}
      footer={
        <>
          <Button onClick={() => onAnswer(false)}>Cancel</Button>
          <Button kind="primary" onClick={() => onAnswer(true)}>
            Paste
          </Button>
        </>
      }
    >
      <p>{paste?.warning === undefined ? null : reasons[paste.warning]}</p>
      <pre className="terminal-pasted">
        <Visible text={paste?.text.slice(0, shownCharacters) ?? ""} />
      </pre>
      {cut > 0 ? <p>… and {cut} more characters.</p> : null}
    </Dialog>
  );
}
