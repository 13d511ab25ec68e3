import type { ReactNode } from "react";

export function Panel({
  title,
  className = "",
  children,
}: {
  title: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section className={`parts-card parts-stack ${className}`} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
