/**
 * Values on their way into the vault. SECURITY: a value is in no state of the page: it is typed into a field that no
 * other code reads, read once, sent, and the field is emptied. Anything that could keep it (a cache of requests, the
 * storage, the address) never sees it.
 */
export type ValueField = HTMLInputElement | HTMLTextAreaElement;

const chunk = 8_192;

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += chunk)
    text += String.fromCharCode(...bytes.subarray(at, at + chunk));
  return btoa(text);
}

/** The typed value, as the API takes it. The field is empty afterwards in any case. */
export function takeValue(field: ValueField | null): string {
  if (field === null) return "";
  const bytes = new TextEncoder().encode(field.value);
  field.value = "";
  const encoded = toBase64(bytes);
  bytes.fill(0);
  return encoded;
}

/** The same for a passphrase, which is sent as it is. */
export function takeText(field: ValueField | null): string {
  const text = field?.value ?? "";
  if (field !== null) field.value = "";
  return text;
}
