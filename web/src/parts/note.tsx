import type { ReactNode } from "react";
import { toAgentBoxError } from "../../../src/base/errors.ts";
import { Visible } from "./visible.tsx";

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="parts-empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The failure, the way out, and the code to look up. */
export function ErrorNote({ error }: { error: unknown }) {
  const { message, hint, code } = toAgentBoxError(error);
  return (
    <div className="parts-note parts-note-bad" role="alert">
      <strong>
        <Visible text={message} />
      </strong>
      {hint === undefined ? null : (
        <span>
          <Visible text={hint} />
        </span>
      )}
      <span className="small">
        <code>{code}</code>
      </span>
    </div>
  );
}

export function Note({ tone, children }: { tone?: "good" | "warn" | "bad"; children: ReactNode }) {
  return <div className={`parts-note ${tone ? `parts-note-${tone}` : ""}`}>{children}</div>;
}

/** Holds the place of what is still on its way, so that nothing moves when it comes. */
export function Skeleton({ height = 120, label = "Loading" }: { height?: number; label?: string }) {
  return (
    <output className="parts-skeleton" style={{ height }}>
      <span className="visually-hidden">{label}</span>
    </output>
  );
}

export function PageHeader({
  title,
  actions,
  children,
}: {
  title: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <header className="parts-header">
      <div>
        <h1>{title}</h1>
        {children}
      </div>
      {actions === undefined ? null : <div className="parts-actions">{actions}</div>}
    </header>
  );
}

export const Kbd = ({ children }: { children: ReactNode }) => <kbd className="parts-kbd">{children}</kbd>;
