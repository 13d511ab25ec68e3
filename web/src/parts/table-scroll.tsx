import { type ReactNode, useEffect, useRef, useState } from "react";

/** A table that may be wider than the page. While it is, the keyboard can reach it and move it. */
export function TableScroll({ children }: { children: ReactNode }) {
  const container = useRef<HTMLDivElement>(null);
  const [isWider, setWider] = useState(false);
  useEffect(() => {
    const element = container.current;
    if (!element) return undefined;
    const watcher = new ResizeObserver(() => setWider(element.scrollWidth > element.clientWidth));
    for (const one of [element, ...element.children]) watcher.observe(one);
    return () => watcher.disconnect();
  }, []);
  return (
    <div ref={container} className="table-scroll" {...(isWider ? { tabIndex: 0 } : {})}>
      {children}
    </div>
  );
}
