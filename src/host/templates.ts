/**
 * A person's templates: partial manifests with a name, each a file in the home. They are taken as an order, so a file that
 * another user can change is refused.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError, systemCode } from "../base/errors.ts";
import { writeFileAtomic } from "./files.ts";
import { OrderFiles, type Reader } from "./ownership.ts";

export interface TemplateFile {
  readonly name: string;
  readonly text: string;
}

const maxBytes = 64 * 1024;
const pattern = /^[a-z0-9][a-z0-9-]{0,47}$/;

const directoryOf = (home: string): string => join(home, "templates");

function fileOf(home: string, name: string): string {
  if (pattern.test(name)) return join(directoryOf(home), `${name}.toml`);
  throw new AgentBoxError("input.invalid", `"${name.slice(0, 80)}" is not the name of a template.`, {
    hint: "Use up to 48 lower-case letters, digits and hyphens.",
  });
}

export async function listTemplates(home: string, reader: Reader): Promise<TemplateFile[]> {
  const entries = await readdir(directoryOf(home)).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  });
  const names = entries.flatMap((entry) => (entry.endsWith(".toml") ? entry.slice(0, -5) : []));
  const files = names
    .filter((name) => pattern.test(name))
    .sort()
    .map(async (name) => ({
      name,
      text: await new OrderFiles(reader).read(fileOf(home, name), { maxBytes }),
    }));
  return (await Promise.all(files)).flatMap(({ name, text }) => (text === undefined ? [] : [{ name, text }]));
}

export async function readTemplate(home: string, reader: Reader, name: string): Promise<string> {
  const text = await new OrderFiles(reader).read(fileOf(home, name), { maxBytes });
  if (text !== undefined) return text;
  throw new AgentBoxError("template.not_found", `There is no template "${name}".`, {
    hint: "List them: agentbox template ls",
  });
}

export async function saveTemplate(home: string, name: string, text: string): Promise<string> {
  const file = fileOf(home, name);
  if (Buffer.byteLength(text) > maxBytes)
    throw new AgentBoxError("input.too_large", "A template can have at most 64 KiB.");
  await mkdir(directoryOf(home), { recursive: true, mode: 0o700 });
  await writeFileAtomic(file, text, { mode: 0o600 });
  return file;
}

export async function removeTemplate(home: string, reader: Reader, name: string): Promise<void> {
  await readTemplate(home, reader, name);
  await rm(fileOf(home, name));
}
