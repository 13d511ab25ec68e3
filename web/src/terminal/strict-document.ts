/**
 * The document as xterm is given it. The page's Content-Security-Policy takes style elements with its nonce only, and
 * no style attributes from text; xterm writes both. Styles that it writes through this document are taken, so the
 * policy can stay as strict for everything else.
 */
import type { Terminal } from "@xterm/xterm";

const nonce = (): string => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

function createElement(name: string, options?: ElementCreationOptions): HTMLElement {
  const element = Document.prototype.createElement.call(document, name, options);
  if (element instanceof HTMLStyleElement) element.nonce = nonce();
  return element;
}

/** Parts of xterm that have no public name. */
interface Internals {
  readonly _renderService?: {
    readonly _renderer?: { readonly value?: { readonly _rowFactory?: RowFactory } };
  };
}

interface RowFactory {
  _addStyle?: (element: HTMLElement, style: string) => void;
}

/**
 * Colours beyond the palette are written as style attributes, whose text the policy refuses; through the object model
 * the same is taken. To be called for each new renderer that draws with elements.
 */
export function takeColoursAsProperties(terminal: Terminal): void {
  const { _core: core } = terminal as unknown as { readonly _core: Internals };
  const rows = core._renderService?._renderer?.value?._rowFactory;
  if (!rows) return;
  rows._addStyle = (element, style) => {
    element.style.cssText += `${style};`;
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
  document.createElement = createElement;
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}
