/** Every way a server may write a value that it repeats: as it is, in base64, in a URL, in JSON, in HTML. */
const minMasked = 6;

/** A value as it is put in: `username` is what stands before it in basic authentication. */
export interface MaskedValue {
  readonly value: string;
  readonly username?: string | undefined;
}

/**
 * Forms shorter than six bytes are left out: they occur by chance in every longer answer, which masking would tear up,
 * and stars where no value was hidden would give the value away.
 */
export function valueForms(values: Iterable<MaskedValue>): Buffer[] {
  const forms = new Set<string>();
  for (const { value, username } of values) {
    const whole = username === undefined ? [value] : [value, `${username}:${value}`];
    // Base64 has characters, too, that are written otherwise in a URL or a text.
    for (const text of [value, ...whole.flatMap(base64Whole), ...base64Inside(value)])
      for (const form of [text, ...inUrls(text), ...inTexts(text)]) forms.add(form);
  }
  return [...forms].filter((form) => form.length >= minMasked).map((form) => Buffer.from(form, "latin1"));
}

const bothAlphabets = (text: string): string[] => [text, text.replaceAll("+", "-").replaceAll("/", "_")];

/** Without padding: with it, the same text is found in front of it. */
const base64Whole = (text: string): string[] =>
  bothAlphabets(Buffer.from(text, "latin1").toString("base64").replace(/=+$/, ""));

/** The characters of base64 that depend on the text alone, when it stands inside something longer, at each of three places. */
export const base64Inside = (text: string): string[] =>
  [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text, "latin1")]);
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((bytes.length * 8) / 6);
    return bothAlphabets(bytes.toString("base64").slice(first, last));
  });

function inUrls(value: string): string[] {
  const plain = encodeURIComponent(value);
  const strict = plain.replaceAll(/[!'()*]/g, percent);
  // All but letters and digits: some programs encode more than they must.
  const full = value.replaceAll(/[^A-Za-z0-9]/g, percent);
  const upper = [plain, strict, full, encodeURI(value)];
  const spaced = upper.map((form) => form.replaceAll("%20", "+"));
  return [...upper, ...spaced].flatMap((form) => [form, form.replaceAll(/%../g, lower)]);
}

function inTexts(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const angled = json.replaceAll(/[<>&'+=`]/g, unicode);
  const html = value.replaceAll(/[&<>"']/g, (character) => entities[character]!);
  const numeric = value.replaceAll(/[&<>"'/`=+]/g, (character) => `&#${character.charCodeAt(0)};`);
  return [
    json,
    json.replaceAll("/", "\\/"),
    json.replaceAll(/[<>&]/g, unicode),
    json.replaceAll(/[<>&]/g, unicode).replaceAll("/", "\\/"),
    json.replaceAll(/[<>&/]/g, unicode),
    angled,
    angled.replaceAll("/", "\\/"),
    html,
    html.replaceAll("&#39;", "&#x27;"),
    html.replaceAll("/", "&#x2F;").replaceAll("&#39;", "&#x27;"),
    numeric,
  ].flatMap((form) => [form, form.replaceAll(/\\u..../g, upperUnicode)]);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, "0");
const percent = (character: string): string => `%${hex(character).toUpperCase()}`;
const unicode = (character: string): string => `\\u00${hex(character)}`;
const upperUnicode = (form: string): string => `\\u${form.slice(2).toUpperCase()}`;
const lower = (form: string): string => form.toLowerCase();
