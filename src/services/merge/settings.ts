/**
 * The only settings taken over from the person's own git configuration: how files are written, and who they are. A
 * setting that names a program is not on the list, so none can come into force.
 */
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { GitConfig } from "../../host/git.ts";
import { asText } from "./failure.ts";
import { guardedGitOk } from "./guarded-git.ts";
import type { Person } from "./person.ts";

export interface PersonSettings {
  readonly isSha256: boolean;
  readonly ignoresCase: boolean;
  /** `Name <email>`, as commits have it. */
  readonly identity: string;
  readonly config: GitConfig;
  /** Names of the filters that would run on files here, and do not. */
  readonly filters: ReadonlySet<string>;
}

/** SECURITY: an allow-list, because drivers and filters can have any name and cannot be listed. */
const takenOver = [
  "core.attributesfile",
  "core.autocrlf",
  "core.checkstat",
  "core.eol",
  "core.filemode",
  "core.ignorecase",
  "core.precomposeunicode",
  "core.sharedrepository",
  "core.sparsecheckout",
  "core.sparsecheckoutcone",
  "core.symlinks",
  "core.trustctime",
  "index.version",
  "merge.directoryrenames",
  "merge.renamelimit",
  "merge.renames",
];

export async function readPersonSettings(gitDir: string, person: Person): Promise<PersonSettings> {
  const env = { HOME: person.home, GIT_CONFIG_GLOBAL: await globalConfig(person.home) };
  const options = { gitDir, cwd: "/", env, person };
  const list = await guardedGitOk(["config", "--list", "-z", "--includes", "--show-scope"], options);
  const values = new Map<string, string>();
  const fields = list.split("\0");
  for (let i = 0; i + 1 < fields.length; i += 2) {
    // Settings that we give on the command line are not theirs.
    const [, key, value] = /^([^\n]+)(?:\n([^]*))?$/.exec(fields[i + 1]!) ?? [];
    // A name without a value means yes.
    if (key !== undefined && fields[i] !== "command") values.set(key, asText(value ?? "true"));
  }
  const attributes = values.get("core.attributesfile") ?? "~/.config/git/attributes";
  values.set("core.attributesfile", attributes.replace(/^~(?=\/)/, person.home));
  const taken = takenOver.flatMap((key) => (values.has(key) ? [[key, values.get(key)!]] : []));
  const own = (key: string) => values.get(`committer.${key}`) ?? values.get(`user.${key}`);
  return {
    isSha256: values.get("extensions.objectformat") === "sha256",
    ignoresCase: values.get("core.ignorecase") === "true",
    identity: formatIdentity(own("name") ?? "AgentBox", own("email") ?? "agent@agentbox.invalid"),
    config: Object.fromEntries(taken) as GitConfig,
    filters: new Set(
      [...values.keys()].flatMap((key) => /^filter\.([^]+)\.(?:smudge|process)$/.exec(key)?.[1] ?? []),
    ),
  };
}

/** SECURITY: a line break or an angle bracket would begin a header of its own in the commit. */
export function formatIdentity(name: string, email: string): string {
  const clean = (text: string) => text.replaceAll(/[\u0000-\u001f<>]/g, " ").trim();
  return `${clean(name) || clean(email) || "unknown"} <${clean(email)}>`;
}

async function globalConfig(home: string): Promise<string> {
  const usual = join(home, ".gitconfig");
  return await access(usual).then(
    () => usual,
    () => join(home, ".config/git/config"),
  );
}
