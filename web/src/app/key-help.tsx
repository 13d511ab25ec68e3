/** `?` on any page: the keys of the page that is open, and those of every page. */
import { useEffect, useState, useSyncExternalStore } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { KeyList, type KeyWords } from "../parts/key-list.tsx";
import { useKeys } from "./keys.ts";

const everywhere: KeyWords = [
  ["Ctrl K", "go to a page or a box"],
  ["?", "these keys"],
  ["Esc", "close what is open"],
];

let open: readonly KeyWords[] = [];
const listeners = new Set<() => void>();
const changeTo = (next: readonly KeyWords[]) => {
  open = next;
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** While a page is open, its keys are in the help. The list is one constant of the page. */
export function useKeyWords(words: KeyWords): void {
  useEffect(() => {
    changeTo([...open, words]);
    return () => changeTo(open.filter((one) => one !== words));
  }, [words]);
}

export function KeyHelp() {
  const [isOpen, setOpen] = useState(false);
  const ofPages = useSyncExternalStore(subscribe, () => open);
  useKeys({ "?": () => setOpen(true) });
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={() => setOpen(false)}>
      <KeyList words={[...ofPages.flat(), ...everywhere]} />
    </Dialog>
  );
}
