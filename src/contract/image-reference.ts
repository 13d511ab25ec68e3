/** Names of images as people and registries write them: `debian`, `debian:12`, `host:5000/team/app@sha256:…`. */
import { omitUndefined } from "../base/omit-undefined.ts";

export interface ParsedReference {
  readonly name: string;
  readonly tag?: string | undefined;
  /** `sha256:…` */
  readonly digest?: string | undefined;
}

const word = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const host = "[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?";
const form = new RegExp(
  `^(?<name>(?:${host}/)?${word}(?:/${word})*)(?::(?<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$`,
);
const maxLength = 512;

/**
 * Undefined for what is no reference. SECURITY: a reference becomes a part of a request's path and of command lines
 * that people paste, so the form is closed: no space, quote, dollar sign, option or line break.
 */
export function parseImageReference(text: string): ParsedReference | undefined {
  if (text.length > maxLength) return undefined;
  const groups = form.exec(text)?.groups;
  if (groups?.["name"] === undefined) return undefined;
  const { name, tag, digest } = groups;
  return { name, ...omitUndefined({ tag, digest }) };
}

export const formatImageReference = ({ name, tag, digest }: ParsedReference): string =>
  `${name}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
