import { type ReactNode, createContext, useCallback, useContext, useMemo, useState } from "react";
import { Button, IconButton } from "./button.tsx";

export interface ToastAction {
  readonly label: string;
  readonly run: () => unknown;
}

type Tone = "good" | "bad" | "plain";
type ShowToast = (text: string, tone?: Tone, action?: ToastAction) => void;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: Tone;
  readonly action: ToastAction | undefined;
}

const ToastContext = createContext<ShowToast>(() => undefined);

/** Says something for a moment; what went wrong, or can be undone, stays longer. */
export const useToast = (): ShowToast => useContext(ToastContext);

const shortMs = 5_000;
const longMs = 15_000;
const most = 4;
let lastId = 0;

export function ToastPosition({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const remove = useCallback((id: number) => setToasts((now) => now.filter((one) => one.id !== id)), []);
  const show = useCallback<ShowToast>(
    (text, tone = "plain", action) => {
      const id = (lastId += 1);
      setToasts((now) => [...now.slice(1 - most), { id, text, tone, action }]);
      setTimeout(() => remove(id), tone === "bad" || action ? longMs : shortMs);
    },
    [remove],
  );
  const list = useMemo(
    () =>
      toasts.map(({ id, text, tone, action }) => (
        <span key={id} className={`parts-toast parts-toast-${tone}`}>
          <span>{text}</span>
          <span className="parts-row">
            {action === undefined ? null : (
              <Button
                onClick={() => {
                  remove(id);
                  void action.run();
                }}
              >
                {action.label}
              </Button>
            )}
            <IconButton label="Dismiss" icon="close" onClick={() => remove(id)} />
          </span>
        </span>
      )),
    [toasts, remove],
  );
  return (
    <ToastContext value={show}>
      {children}
      <output className="parts-toasts" aria-live="polite">
        {list}
      </output>
    </ToastContext>
  );
}
