/** SECURITY: what a server or git says may quote the request; a credential is taken out in each form it can have. */
import { printable } from "../../base/printable.ts";
import type { ForgeCredential } from "../../ports/forge.ts";

export const basicOf = ({ username, password }: ForgeCredential): string =>
  Buffer.from(`${username}:${password}`).toString("base64");

function mask(text: string, credential: ForgeCredential): string {
  const { password } = credential;
  const forms = [
    basicOf(credential),
    password,
    encodeURIComponent(password),
    JSON.stringify(password).slice(1, -1),
    Buffer.from(password).toString("base64"),
    Buffer.from(password).toString("base64url"),
  ];
  return forms
    .filter((form) => form !== "")
    .toSorted((a, b) => b.length - a.length)
    .reduce((masked, form) => masked.replaceAll(form, "***"), text);
}

/** A foreign text for a person: without the credential, on one line, of a bounded length. */
export const quoteSafely = (text: string, credential: ForgeCredential): string =>
  printable(mask(text, credential).trim()).slice(0, 300);
