/**
 * Finds what a framework obeys in the place of the method in the body of a POST: a field such as `_method`, in a form or in
 * JSON. The bytes pass unchanged, or not at all from there on.
 */
import { Transform, type TransformCallback } from "node:stream";
import { isFormMethod } from "../../../contract/network/request-overrides.ts";
import type { RequestHead } from "./request-head.ts";

/** The overlap that is kept from the end of one piece to the next. */
const overlap = 1_024;

interface Form {
  readonly contentType: RegExp;
  /** Names of fields in a text that may begin and end anywhere. */
  readonly names: (text: string) => Iterable<string>;
  readonly tail: (text: string) => string;
}

const lastOf = (text: string): string => text.slice(-overlap);
const unescaped = (text: string): string =>
  text.replaceAll(/\\u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
const unquoted = (text: string): string =>
  text
    .replaceAll("+", " ")
    .replaceAll(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

function* captured(text: string, pattern: RegExp): Iterable<string> {
  for (const match of text.matchAll(pattern)) yield match[1]!;
}

const blanks = /^(?:[+\s]|%(?:20|0[9a-d]))+/i;
const forms: readonly Form[] = [
  {
    contentType: /x-www-form-urlencoded/i,
    *names(text) {
      for (const name of captured(text, /[&;]([^=&;]{1,4096})(?=[=&;])/g)) yield unquoted(name);
    },
    // SECURITY: blanks before a name are taken away by some servers, however many there are.
    tail(text) {
      const name = text.slice(Math.max(text.lastIndexOf("&"), text.lastIndexOf(";")) + 1);
      return `&${name.replace(blanks, "+").slice(0, overlap)}`;
    },
  },
  {
    // Rack reads the parts of any kind of multipart body as fields.
    contentType: /multipart\//i,
    *names(text) {
      for (const name of captured(
        text,
        /\bname(?:\*\d*){0,2}\s*=\s*(?:[\w-]*'[^']*'|")?([^";\r\n]{1,256})(?=[";\r\n])/gi,
      ))
        yield unquoted(name.replaceAll("\\", ""));
    },
    tail: (text) => lastOf(text.replaceAll(/[ \t]+/g, " ")),
  },
  {
    contentType: /json/i,
    names: (text) => captured(unescaped(text), /(?<!\\)"([^"\\]{1,64})"\s*:/g),
    tail: (text) => lastOf(text.replaceAll(/\s+/g, " ")),
  },
];

class FormMethodScan extends Transform {
  readonly #forms: readonly { readonly form: Form; tail: string }[];
  readonly #isRefused: () => boolean;
  #isOver = false;

  constructor(forms: readonly Form[], isRefused: () => boolean) {
    super();
    this.#forms = forms.map((form) => ({ form, tail: "&" }));
    this.#isRefused = isRefused;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#look(chunk.toString("latin1"));
    if (this.destroyed) return;
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    this.#look("&");
    if (!this.destroyed) done();
  }

  #look(text: string): void {
    if (this.#isOver) return;
    if (this.#forms.every((one) => !hasMethod(one, text))) return;
    // No rule is about methods, so it may be what it likes.
    this.#isOver = !this.#isRefused();
    if (!this.#isOver) this.destroy();
  }
}

/** Whether one of its names ends in `text` and has the last word on the method; what may go on is kept. */
function hasMethod(one: { readonly form: Form; tail: string }, text: string): boolean {
  const all = one.tail + text;
  one.tail = one.form.tail(all);
  for (const name of one.form.names(all)) if (isFormMethod(name)) return true;
  return false;
}

/** `isRefused` is asked once, when there is such a field. Undefined: such frameworks do not read this body. */
export function formMethodScan(
  { method, framing, headers }: RequestHead,
  isRefused: () => boolean,
): Transform | undefined {
  if (method !== "POST" || framing === "none") return undefined;
  const types = headers.filter((_, i) => i % 2 === 1 && headers[i - 1]!.toLowerCase() === "content-type");
  // SECURITY: every kind that one of the headers could be taken for. Rack takes a body without a type for a form, and
  // Laravel a type with "/json" anywhere in it for JSON.
  const isUntyped = types.every((type) => type.trim() === "");
  const read = forms.filter(({ contentType }) => isUntyped || types.some((type) => contentType.test(type)));
  return read.length === 0 ? undefined : new FormMethodScan(read, isRefused);
}
