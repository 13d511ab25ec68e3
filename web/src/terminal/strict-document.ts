/**
 * The document as xterm is given it. The page's Content-Security-Policy takes style elements with its nonce only, and
 * no style attributes from text; xterm writes both. What it draws through this document is taken, so the policy can
 * stay as strict for everything else.
 */
const nonce = (): string => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

function createElement(name: string, options?: ElementCreationOptions): HTMLElement {
  const element = Document.prototype.createElement.call(document, name, options);
  if (element instanceof HTMLStyleElement) element.nonce = nonce();
  else if (element instanceof HTMLSpanElement) takeStyleAsProperties(element);
  return element;
}

/** The attribute's text is refused by the policy; the same through the object model is not. */
function takeStyleAsProperties(element: HTMLElement): void {
  element.setAttribute = (name: string, value: string) => {
    if (name === "style") element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
}

export const strictDocument = (): Document =>
  new Proxy(document, {
    get(target, key) {
      if (key === "createElement") return createElement;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });

/** Parts of xterm ask the page's own document while it opens; for that moment it makes elements the same way. */
export function withStrictElements(open: () => void): void {
  document.createElement = createElement as typeof document.createElement;
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}
