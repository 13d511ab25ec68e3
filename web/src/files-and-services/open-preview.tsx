import { useState } from "react";
import { isAgentBoxError } from "../../../src/base/errors.ts";
import { client } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Note } from "../parts/note.tsx";
import { useToast } from "../parts/toast.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";

/** A preview that waits for the yes of the box's owner. */
interface Question {
  readonly port: number;
  readonly holds: readonly string[];
  readonly digest: string;
}

interface Asked {
  readonly port: number;
  readonly agreed?: string;
}

async function openOrAsk(box: string, { port, agreed }: Asked): Promise<string | Question> {
  try {
    return (await client.openPreview(box, { port, agreed })).url;
  } catch (error) {
    const { holds, digest } = isAgentBoxError(error, "preview.unconfirmed") ? (error.facts ?? {}) : {};
    if (!Array.isArray(holds) || typeof digest !== "string") throw error;
    return { port, holds: holds.map(String), digest };
  }
}

/** Opens previews of a box in tabs of their own; of one that has secrets in its reach after a question. */
export function useOpenPreview(box: string) {
  const toast = useToast();
  const [question, setQuestion] = useState<Question>();
  const action = useAction((asked: Asked) => openOrAsk(box, asked), {
    onDone(result) {
      if (typeof result !== "string") return setQuestion(result);
      // SECURITY: without a way back: what the box serves must not be able to steer the page that it was opened from.
      window.open(result, "_blank", "noopener,noreferrer");
      toast("The preview opens in a new tab.", "good");
    },
  });
  return {
    isBusy: action.isBusy,
    open: (port: number) => action.run({ port }),
    question,
    answer(isYes: boolean) {
      setQuestion(undefined);
      if (isYes && question !== undefined) action.run({ port: question.port, agreed: question.digest });
    },
  };
}

export function PreviewWarning() {
  return (
    <Note>
      A preview is a page that the box made. In browsers other than Chromium 152 and later it can send what
      the box knows to anyone, over WebRTC.
    </Note>
  );
}

interface QuestionProps {
  readonly box: string;
  readonly question: Question | undefined;
  readonly onAnswer: (isYes: boolean) => void;
}

export function PreviewQuestion({ box, question, onAnswer }: QuestionProps) {
  return (
    <Dialog
      title="Show a box that has secrets?"
      isOpen={question !== undefined}
      onClose={() => onAnswer(false)}
      footer={
        <>
          <Button onClick={() => onAnswer(false)}>Cancel</Button>
          <Button kind="primary" onClick={() => onAnswer(true)}>
            Open preview
          </Button>
        </>
      }
    >
      <p>
        A page of <code>{box}</code> runs in your browser, and can send out what the box knows. The box can:
      </p>
      <ul>
        {question?.holds.map((text) => (
          <li key={text}>
            <Visible text={text} />
          </li>
        ))}
      </ul>
      <p className="quiet">You are asked again when the box is given another secret.</p>
    </Dialog>
  );
}
