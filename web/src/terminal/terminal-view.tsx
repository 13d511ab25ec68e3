import {
  type ClipboardEvent,
  type DragEvent,
  type MouseEvent,
  useEffect,
  useRef,
  useState,
  type KeyboardEvent,
} from "react";
import { useMayOn } from "../api/me.ts";
import { LinkQuestion } from "../parts/confirm-link.tsx";
import { ErrorNote } from "../parts/note.tsx";
import { KeyBar } from "./key-bar.tsx";
import { type MenuPosition, TerminalMenu } from "./menu.tsx";
import { PasteQuestion } from "./paste-question.tsx";
import { TerminalStatus } from "./status.tsx";
import { TerminalToolbar } from "./toolbar.tsx";
import { useTerminal } from "./use-terminal.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { SearchInput } from "../parts/field.tsx";

interface FindBarProps {
  find: (text: string, isUpwards: boolean) => boolean;
  onClose: () => void;
}

/** Search in everything the terminal still has, from the newest line upwards. */
function FindBar({ find, onClose }: FindBarProps) {
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
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user has just opened the search
        autoFocus
        onChange={(event) => {
          setText(event.currentTarget.value);
          setMissing(false);
        }}
        onKeyDown={press}
      />
      <Button onClick={() => go(true)}>Up</Button>
      <Button onClick={() => go(false)}>Down</Button>
      <output className="small">{isMissing ? "Not found" : ""}</output>
      <IconButton label="Close the search" icon="close" onClick={onClose} />
    </search>
  );
}

interface TerminalViewProps {
  box: string;
  session: string;
  /** Sees everything and types nothing. The daemon holds guests to that independently of the page. */
  readOnly?: boolean;
  /** A small picture of a terminal among others: no tools, and the session keeps its size. */
  isCompact?: boolean;
  /** A person has just asked for this session, and types next. */
  takesFocus?: boolean;
}

const stop = (event: DragEvent) => event.preventDefault();

export function TerminalView({
  box,
  session,
  readOnly = false,
  isCompact = false,
  takesFocus = false,
}: TerminalViewProps) {
  const host = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLElement>(null);
  const mayType = useMayOn(box, "work");
  const [isChosenReadOnly, setReadOnly] = useState(false);
  const [isFinding, setFinding] = useState(false);
  const [hasKeys, setKeys] = useState(false);
  const [menu, setMenu] = useState<MenuPosition>();
  const isReadOnly = readOnly || isChosenReadOnly || !mayType;
  const terminal = useTerminal(host, { box, session, isReadOnly, isCompact });

  const { focus } = terminal;
  const isLive = terminal.state.phase === "live";
  useEffect(() => {
    if (takesFocus && isLive) focus();
  }, [takesFocus, isLive, focus]);

  const takePaste = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (!isReadOnly) terminal.pasteText(event.clipboardData.getData("text/plain"));
  };
  const openMenu = (event: MouseEvent) => {
    const takesMouse = terminal.screen.current?.terminal.modes.mouseTrackingMode !== "none";
    if (takesMouse && !event.shiftKey) return;
    event.preventDefault();
    setMenu({ x: event.clientX, y: event.clientY });
  };
  const showKeys = (isShown: boolean) => {
    setKeys(isShown);
    terminal.focus();
  };
  const closeFind = () => {
    setFinding(false);
    terminal.focus();
  };

  return (
    <section
      ref={frame}
      className={`terminal-view ${isCompact ? "terminal-view-compact" : ""}`}
      aria-label={`Terminal of ${box}, session ${session}`}
    >
      {isCompact ? null : (
        <TerminalToolbar
          terminal={terminal}
          frame={frame}
          isReadOnly={isReadOnly}
          canType={mayType && !readOnly}
          onReadOnly={setReadOnly}
          onFind={() => setFinding(true)}
          hasKeys={hasKeys}
          onKeys={showKeys}
        />
      )}
      {isFinding ? (
        <FindBar
          find={(text, isUpwards) => terminal.screen.current?.find(text, isUpwards) ?? false}
          onClose={closeFind}
        />
      ) : null}
      {terminal.state.phase === "refused" ? <ErrorNote error={terminal.state.error} /> : null}
      <div
        className="terminal-host"
        ref={host}
        data-phase={terminal.state.phase}
        onPasteCapture={takePaste}
        onContextMenu={isCompact ? undefined : openMenu}
        // SECURITY: a dropped file or text would become input, or replace the page.
        onDragOver={stop}
        onDropCapture={stop}
      />
      {isCompact ? null : (
        <>
          <KeyBar terminal={terminal} isShown={hasKeys} isReadOnly={isReadOnly} />
          <TerminalMenu
            position={menu}
            terminal={terminal}
            isReadOnly={isReadOnly}
            onClose={() => setMenu(undefined)}
          />
        </>
      )}
      {isCompact ? <TerminalStatus terminal={terminal} isReadOnly={isReadOnly} isShort /> : null}
      <PasteQuestion paste={terminal.paste} onAnswer={terminal.answerPaste} />
      <LinkQuestion url={terminal.link} onClose={terminal.closeLink} />
    </section>
  );
}
