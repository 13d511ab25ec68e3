/**
 * What of the caller's own settings a box has, so that it shows time, words and authors as their machine does. A fixed list,
 * with a shape for each: nothing else of an environment comes along, and no value is one that could hold a secret.
 */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { PersonSettings } from "../../contract/box.ts";
import { gitVariables, settingVariables } from "../../contract/person-variables.ts";

const locale = /^(?:C|[a-z]{2,3}(?:_[A-Z]{2})?)\.(?:UTF-8|utf8)(?:@[a-z]{1,16})?$/;
const program = /^[\w./+-]{1,128}(?: -{0,2}[\w./+=-]{1,64}){0,8}$/;

const shapes: Readonly<Record<(typeof settingVariables)[number], RegExp>> = {
  TZ: /^:?(?!.*\.\.)[A-Za-z<][\w+\-,./<>:]{1,63}$/,
  LANG: locale,
  LC_ALL: locale,
  LC_CTYPE: locale,
  LC_MESSAGES: locale,
  LC_TIME: locale,
  COLORTERM: /^(?:truecolor|24bit)$/,
  EDITOR: program,
  VISUAL: program,
  PAGER: program,
};

/** Undefined without any. A box with a system of its own has none of the host's locales, zones and editors. */
export function personSettings(
  variables: Readonly<Record<string, string>>,
  { hasImage }: { readonly hasImage: boolean },
): PersonSettings | undefined {
  const valueOf = (name: string): string | undefined =>
    Object.hasOwn(variables, name) ? variables[name] : undefined;
  const env = settingVariables.flatMap((name): [string, string][] => {
    const value = valueOf(name);
    return !hasImage && value !== undefined && shapes[name].test(value) ? [[name, value]] : [];
  });
  const [name, email] = [gitVariables.name, gitVariables.email].map((variable) => {
    const value = valueOf(variable)?.trim();
    return value === undefined || value === "" || value.length > 256 ? undefined : value;
  });
  const git = omitUndefined({ name, email });
  if (env.length === 0 && Object.keys(git).length === 0) return undefined;
  return { env: Object.fromEntries(env), git };
}
