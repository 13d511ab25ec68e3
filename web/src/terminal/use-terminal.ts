import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { useToast } from "../parts/toast.tsx";
import { attachScreen } from "./attach-screen.ts";
import { withCtrl } from "./key-sequences.ts";
import { type Paste, preparePaste } from "./paste.ts";
import { keepFontSize, limitFontSize, readFontSize } from "./preferences.ts";
import { TerminalScreen } from "./screen.ts";
import type { ConnectionState, SessionConnection, Size } from "./session-connection.ts";

interface Options {
  readonly box: string;
  readonly session: string;
  readonly isReadOnly: boolean;
  readonly isCompact: boolean;
}

export interface TerminalHandle {
  readonly state: ConnectionState;
  readonly droppedKeys: number;
  readonly title: string;
  readonly link: string | undefined;
  readonly paste: Paste | undefined;
  readonly isCtrlHeld: boolean;
  readonly screen: RefObject<TerminalScreen | undefined>;
  readonly closeLink: () => void;
  readonly forgetDropped: () => void;
  readonly retry: () => void;
  readonly focus: () => void;
  readonly holdCtrl: (isHeld: boolean) => void;
  readonly changeFontSize: (by: number) => void;
  readonly copy: () => void;
  /** Asks the browser for the clipboard, because a person pressed a button that says so. */
  readonly pasteFromClipboard: () => void;
  readonly pasteText: (text: string) => void;
  readonly answerPaste: (isWanted: boolean) => void;
  readonly press: (sequence: string) => void;
}

const resizeQuietMs = 100;

/** A terminal in an element of the page, joined to a session of a box. */
export function useTerminal(host: RefObject<HTMLElement | null>, options: Options): TerminalHandle {
  const { box, session, isReadOnly, isCompact } = options;
  const toast = useToast();
  const screen = useRef<TerminalScreen>(undefined);
  const connection = useRef<SessionConnection>(undefined);
  /** The size that fills the element, as of the last change of either. */
  const own = useRef<Size>(undefined);
  const ctrl = useRef(false);
  const [state, setState] = useState<ConnectionState>({ phase: "connecting" });
  const [droppedKeys, setDropped] = useState(0);
  const [title, setTitle] = useState("");
  const [link, setLink] = useState<string>();
  const [paste, setPaste] = useState<Paste>();
  const [isCtrlHeld, setCtrl] = useState(false);

  const holdCtrl = useCallback((isHeld: boolean) => {
    ctrl.current = isHeld;
    setCtrl(isHeld);
  }, []);

  const copyText = useCallback(
    (text: string) => {
      const copied = () => toast("Copied.", "good");
      const refused = () => toast("The browser did not let the page copy. Use its own menu.", "bad");
      if (navigator.clipboard === undefined) refused();
      else void navigator.clipboard.writeText(text).then(copied, refused);
    },
    [toast],
  );

  const pasteText = useCallback((text: string) => {
    const terminal = screen.current?.terminal;
    if (!terminal || text === "") return;
    const prepared = preparePaste(text, terminal.modes.bracketedPasteMode);
    if (prepared.warning === undefined) terminal.paste(prepared.text);
    else setPaste(prepared);
  }, []);

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    // The user who works in it decides its size; for others it is scaled.
    const takeOwnSize = () => {
      const [wanted, now] = [own.current, screen.current?.size];
      if (isCompact || !wanted || !now) return;
      if (wanted.cols !== now.cols || wanted.rows !== now.rows) connection.current?.resize(wanted);
    };
    const made = new TerminalScreen(element, {
      fontSize: isCompact ? 12 : readFontSize(),
      isCompact,
      isReadOnly: true,
      events: {
        typed(text) {
          takeOwnSize();
          connection.current?.type(ctrl.current ? withCtrl(text) : text);
          if (ctrl.current) holdCtrl(false);
        },
        bytes: (bytes) => connection.current?.sendBytes(bytes),
        link: setLink,
        title: setTitle,
        copy: copyText,
      },
    });
    screen.current = made;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        made.layout();
        own.current = made.ownSize;
        takeOwnSize();
      }, resizeQuietMs);
    });
    observer.observe(element);
    element.addEventListener("focusin", takeOwnSize);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      element.removeEventListener("focusin", takeOwnSize);
      screen.current = undefined;
      made.dispose();
    };
  }, [host, isCompact, copyText, holdCtrl]);

  useEffect(() => {
    const made = screen.current;
    if (!made) return undefined;
    made.terminal.options.disableStdin = isReadOnly;
    setTitle("");
    const joined = attachScreen(made, {
      box,
      session,
      isReadOnly,
      isCompact,
      onState: setState,
      onDropped: setDropped,
    });
    connection.current = joined;
    return () => {
      connection.current = undefined;
      joined.close();
    };
  }, [box, session, isReadOnly, isCompact]);

  const focus = useCallback(() => screen.current?.terminal.focus(), []);

  return {
    state,
    droppedKeys,
    title,
    link,
    paste,
    isCtrlHeld,
    screen,
    focus,
    holdCtrl,
    pasteText,
    closeLink: () => setLink(undefined),
    forgetDropped: () => connection.current?.forgetDropped(),
    retry: () => connection.current?.retry(),
    changeFontSize(by) {
      const size = limitFontSize(readFontSize() + by);
      keepFontSize(size);
      screen.current?.setFontSize(size);
      own.current = screen.current?.ownSize;
      if (own.current) connection.current?.resize(own.current);
    },
    copy() {
      const selected = screen.current?.terminal.getSelection() ?? "";
      if (selected !== "") copyText(selected);
    },
    pasteFromClipboard() {
      const refused = () =>
        toast("The browser did not let the page read the clipboard. Press Ctrl-Shift-V.", "bad");
      if (navigator.clipboard === undefined) refused();
      else void navigator.clipboard.readText().then(pasteText, refused);
    },
    answerPaste(isWanted) {
      if (isWanted && paste) screen.current?.terminal.paste(paste.text);
      setPaste(undefined);
      focus();
    },
    press(sequence) {
      screen.current?.terminal.input(sequence, true);
      focus();
    },
  };
}
