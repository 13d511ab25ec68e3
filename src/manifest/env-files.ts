/**
 * Variables from files of the project: which files [env] names, how their lines read, and which of their values look
 * like secrets. Pure.
 */
import type { ManifestValues } from "./schema.ts";

type Env = NonNullable<ManifestValues["env"]>;
type EnvValue = Exclude<Env[string], readonly unknown[]>;

export interface EnvFile {
  readonly path: string;
  /** Names whose values go into the box although they look like secrets. */
  readonly clear: readonly string[];
}

/** The variables of a section, without the list of files. */
export const envVariables = (env: Env = {}): [string, EnvValue][] =>
  Object.entries(env).flatMap(([name, value]): [string, EnvValue][] =>
    Array.isArray(value) ? [] : [[name, value]],
  );

export function envFiles(env: Env = {}): EnvFile[] {
  const { files } = env;
  if (!Array.isArray(files)) return [];
  return files.map((file) =>
    typeof file === "string" ? { path: file, clear: [] } : { path: file.path, clear: file.clear ?? [] },
  );
}

/** A script of the project's; it runs in the box and never on the host. */
export const isEnvrc = (path: string): boolean => path.split("/").at(-1) === ".envrc";

const line = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/s;
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/**
 * NAME=VALUE lines, with # comments and quoted values, also over several lines. Nothing in them is executed or looked up:
 * a $ is a $.
 */
export function parseEnvFile(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  const lines = text.replace(/^\u{feff}/u, "").split(/\r\n?|\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const [, name, rest = ""] = line.exec(lines[at]!) ?? [];
    if (name === undefined) continue;
    const quote = /^["']/.exec(rest)?.[0];
    if (quote === undefined) {
      values[name] = rest.replace(/(^|\s)#.*$/s, "").trim();
      continue;
    }
    // Line by line: each is looked through once, however many follow a quote that nothing ends.
    let last = rest.slice(1);
    let end = endOf(last, quote);
    const before: string[] = [];
    while (end === -1 && at + 1 < lines.length) {
      before.push(last);
      last = lines[(at += 1)]!;
      end = endOf(last, quote);
    }
    const inside = [...before, end === -1 ? last : last.slice(0, end)].join("\n");
    values[name] =
      quote === "'" ? inside : inside.replace(/\\(.)/gs, (_, one: string) => escapes[one] ?? one);
  }
  return values;
}

function endOf(text: string, quote: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\" && quote === '"') at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}

const secretNames =
  /(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASS|PASSWD|PASSWORD|PASSPHRASE|PWD|CREDENTIALS?|PRIVATE|AUTH|SIGNATURE|DSN|COOKIE|SALT|PIN|WEBHOOK)S?(_|$)/i;
/** Written as one word, such as PGPASSWORD, SSHPASS or authToken. */
const joinedNames =
  /(PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL|TOKENS?(_|$)|(API|ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION|MASTER|ACCOUNT|AUTH)KEYS?(_|$)|(DB|SSH|USER|ROOT|ADMIN|SQL|SMTP|MAIL)PASS(_|$))/i;
const secretValues: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
  /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i,
  /(^|[;?&,\s])(pass(word|wd|phrase)?|pwd|secret|token|sig(nature)?|[a-z_]*(api|access|account|secret|private)_?-?key)\s*=\s*[^;&,\s]/i,
  /^https:\/\/(hooks\.slack\.com\/services|discord(app)?\.com\/api\/webhooks)\//i,
  /^(sk|pk|rk|gh[opsur]|github_pat|glpat|xox[abpors]|AKIA|ASIA|AIza|ya29|eyJ|SG|npm|dop_v1|hf)[-_A-Za-z0-9.]{12,}/,
];
const longToken = /^[A-Za-z0-9+/_=.-]{20,}$/;

/**
 * Whether a value may be a secret, by its name or by itself. SECURITY: a wrong yes costs a line in the manifest, a
 * wrong no shows a secret to the box.
 */
export function looksSecret(name: string, value: string): boolean {
  if (value === "") return false;
  if (
    [secretNames, joinedNames].some((pattern) => pattern.test(name)) ||
    secretValues.some((pattern) => pattern.test(value))
  )
    return true;
  return longToken.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value) && entropy(value) > 3.5;
}

/** Bits for each character; words are below 3.5, random tokens above. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const one of text) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => {
    const share = count / text.length;
    return sum - share * Math.log2(share);
  }, 0);
}
