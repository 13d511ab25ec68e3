import { type KeyboardEvent, useState } from "react";
import { Button, IconButton } from "../parts/button.tsx";
import { SearchInput } from "../parts/field.tsx";

interface FindBarProps {
  find: (text: string, isUpwards: boolean) => boolean;
  onClose: () => void;
}

/** Search in everything the terminal still has, from the newest line upwards. */
export function FindBar({ find, onClose }: FindBarProps) {
  const [text, setText] = useState("");
  const [isMissing, setMissing] = useState(false);
  const go = (isUpwards: boolean) => setMissing(text !== "" && !find(text, isUpwards));
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") go(!event.shiftKey);
    if (event.key === "Escape") onClose();
  };
  return (
    <search className="terminal-find">
      <SearchInput
        label="Find in the terminal"
        value={text}
        autoFocus
        onChange={(event) => {
          setText(event.currentTarget.value);
          setMissing(false);
        }}
        onKeyDown={press}
      />
      <Button onClick={() => go(true)}>Up</Button>
      <Button onClick={() => go(false)}>Down</Button>
      <span className="small" role="status">
        {isMissing ? "Not found" : ""}
      </span>
      <IconButton label="Close the search" icon="close" onClick={onClose} />
    </search>
  );
}
