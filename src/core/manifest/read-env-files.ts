/**
 * The files of variables that a box is made with, as they lie in the project now. Values that look like secrets stay
 * outside, unless the user has named them.
 */
import { createHash } from "node:crypto";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { EnvScript } from "../../contract/box.ts";
import { envFiles, envVariables, isEnvrc, looksSecret, parseEnvFile } from "../../manifest/env-files.ts";
import { type ManifestLayer, type Origin, layerManifest } from "../../manifest/index.ts";
import { isOwn } from "../../manifest/checks/check-env.ts";
import type { Using } from "../using.ts";

const maxScriptBytes = 64 * 1024;

export interface ReadEnvFile {
  readonly path: string;
  readonly values: Readonly<Record<string, string>>;
  /** Of those values: names that look like secrets, and were named to go in all the same. */
  readonly cleared: readonly string[];
}

export interface EnvFiles {
  readonly files: readonly ReadEnvFile[];
  readonly script?: EnvScript | undefined;
  /** Who named them. */
  readonly origin: Origin | undefined;
  readonly warnings: readonly string[];
}

export async function readEnvFiles(
  { ports: { host } }: Using<"host">,
  projectDir: string | undefined,
  layers: readonly ManifestLayer[],
): Promise<EnvFiles | undefined> {
  const { values, origins } = layerManifest(layers);
  const wanted = envFiles(values.env);
  if (wanted.length === 0) return undefined;
  if (projectDir === undefined || values.workspace?.url !== undefined)
    throw new AgentBoxError(
      "manifest.invalid",
      "env.files names files of a project, and there is no project.",
      {
        hint: "Remove it, or make the box from the project's directory.",
      },
    );
  const typed = new Set(envVariables(values.env).map(([name]) => name));
  const files: ReadEnvFile[] = [];
  const warnings: string[] = [];
  let script: EnvScript | undefined;
  for (const { path, clear } of wanted) {
    // SECURITY: a repository can hold a link to anywhere, for the directory of the file as well.
    const full = `${projectDir}/${path}`;
    const text =
      (await host.realPath(full)) === full ? await host.readProjectFile(projectDir, path) : undefined;
    if (text === undefined)
      warnings.push(`There is no file ${printable(path)} in the project; env.files names it.`);
    else if (isEnvrc(path)) script = scriptOf(path, text);
    else {
      const { file, withheld } = sort(path, parseEnvFile(text), clear);
      files.push(file);
      for (const name of withheld.filter((one) => !typed.has(one))) warnings.push(offerOf(path, name));
    }
  }
  return { files, ...omitUndefined({ script }), origin: origins.get("env.files"), warnings };
}

function sort(path: string, all: Readonly<Record<string, string>>, clear: readonly string[]) {
  const usable = Object.entries(all).filter(([name]) => !isOwn(name));
  const secret = usable.filter(([name, value]) => looksSecret(name, value)).map(([name]) => name);
  const withheld = secret.filter((name) => !clear.includes(name));
  const values = Object.fromEntries(usable.filter(([name]) => !withheld.includes(name)));
  return { file: { path, values, cleared: secret.filter((name) => clear.includes(name)).sort() }, withheld };
}

/** Never with the value. */
const offerOf = (path: string, name: string): string =>
  `${name} of ${printable(path)} looks like a secret and stays outside. Save it in the vault: agentbox vault set ${secretName(name)} --from-env-file ${printable(path)}:${name}`;

const secretName = (variable: string): string =>
  variable
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^-+|-+$/g, "");

function scriptOf(path: string, text: string): EnvScript {
  if (Buffer.byteLength(text) > maxScriptBytes)
    throw new AgentBoxError("input.too_large", `${printable(path)} is larger than 64 KiB.`, {
      hint: "Move what is long into a script that it calls.",
    });
  return { path, digest: `sha256:${createHash("sha256").update(text).digest("hex")}`, text };
}
