import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button, type ButtonProps, IconButton } from "./button.tsx";

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
}

/** The browser's own dialog: it keeps the focus inside and closes with Escape. */
export function Dialog({ title, isOpen, onClose, children, footer }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    if (isOpen && element && !element.open) element.showModal();
    if (!isOpen && element?.open) element.close();
  }, [isOpen]);
  if (!isOpen) return null;
  return (
    <dialog ref={dialog} className="parts-dialog" aria-labelledby={heading} onClose={onClose}>
      <div className="parts-dialog-head">
        <h2 id={heading}>{title}</h2>
        <IconButton label="Close" icon="close" onClick={onClose} />
      </div>
      <div className="parts-dialog-body">{children}</div>
      {footer === undefined ? null : <div className="parts-dialog-foot">{footer}</div>}
    </dialog>
  );
}

interface ConfirmProps extends Omit<ButtonProps, "onClick"> {
  /** The title, as one question. */
  question: string;
  /** The label of the button that does it. */
  confirm: string;
  details?: ReactNode;
  onConfirm: () => unknown;
}

/** A button that asks before it does something that cannot be taken back. */
export function ConfirmButton({ question, confirm, details, onConfirm, kind, ...rest }: ConfirmProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button kind={kind} {...rest} onClick={() => setOpen(true)} />
      <Dialog
        title={question}
        isOpen={isOpen}
        onClose={close}
        footer={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button
              kind={kind === "danger" ? "danger" : "primary"}
              onClick={() => {
                close();
                void onConfirm();
              }}
            >
              {confirm}
            </Button>
          </>
        }
      >
        {details ?? <p className="quiet">Nothing changes until you confirm.</p>}
      </Dialog>
    </>
  );
}
