import { CopyButton } from "../parts/copy-button.tsx";
import { Visible } from "../parts/visible.tsx";

export function CopyableText({ text, label }: { text: string; label: string }) {
  return (
    <>
      <pre className="new-box-text" tabIndex={0}>
        <Visible text={text} />
      </pre>
      <CopyButton text={text} label={label} />
    </>
  );
}
