import { useState } from "react";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <Button kind="quiet" onClick={() => void copy()} aria-live="polite">
      <Icon name={isCopied ? "check" : "copy"} />
      {isCopied ? "Copied" : label}
    </Button>
  );
}
