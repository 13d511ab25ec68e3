import { lstat } from "node:fs/promises";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import type { SeedFile } from "../../contract/agent.ts";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";

const maxExistingBytes = 8 * 2 ** 20;

/**
 * Puts an agent's settings into the home before it starts. The home belongs to the box, and an earlier program may have
 * left links there: no link is written through.
 */
export async function seedHome(
  files: readonly SeedFile[],
  links: Readonly<Record<string, string>>,
  home: string = boxPaths.home,
): Promise<void> {
  await using root = await SafeDirectory.open(home);
  for (const file of files) await within(root, file.path, (parent, name) => writeSeed(parent, name, file));
  for (const [path, target] of Object.entries(links)) {
    await within(root, path, (parent, name) => putLink(parent, name, target));
  }
}

async function within(
  root: SafeDirectory,
  path: string,
  act: (parent: SafeDirectory, name: string) => Promise<void>,
): Promise<void> {
  const names = path.split("/");
  const name = names.pop();
  if (!name || [name, ...names].some((part) => part === "" || part === "." || part === ".."))
    throw new TypeError(`${path} is no path below the home`);
  try {
    await descend(root, names, (parent) => act(parent, name));
  } catch (error) {
    throw new AgentBoxError(
      "file.unsafe_path",
      `The agent's settings cannot be written to ~/${path}: ${messageOf(error)}`,
      {
        hint: "Something in the box has put another thing in their place. Copy the work out, and make a new box.",
      },
    );
  }
}

async function descend(
  directory: SafeDirectory,
  names: readonly string[],
  act: (directory: SafeDirectory) => Promise<void>,
): Promise<void> {
  const [next, ...rest] = names;
  if (next === undefined) return act(directory);
  await using below = await directory.ensureDirectory(next);
  await descend(below, rest, act);
}

async function writeSeed(parent: SafeDirectory, name: string, { text, how }: SeedFile): Promise<void> {
  const existing = how === "replace" ? undefined : await readExisting(parent, name);
  if (how === "absent" && existing !== undefined) return;
  const content = how === "merge" && existing !== undefined ? mergeTexts(existing, text) : text;
  await parent.replaceFile(name, 0o600, async (file) => {
    await file.writeFile(content);
  });
}

/** Another kind of file than a plain one, or one that is too large, is as good as none: it is replaced. */
async function readExisting(parent: SafeDirectory, name: string): Promise<string | undefined> {
  try {
    await using file = await parent.openFile(name);
    const { size } = await file.stat();
    const isPlain = (await file.stat()).isFile() && size <= maxExistingBytes;
    return isPlain ? await file.readFile("utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** A directory that the agent made itself in the link's place stays: its contents may be the person's. */
async function putLink(parent: SafeDirectory, name: string, target: string): Promise<void> {
  const found = await lstat(parent.at(name)).catch(() => undefined);
  if (found?.isDirectory()) return;
  await parent.replaceLink(name, target);
}

/** Our keys win; what is no JSON object is replaced. */
export function mergeTexts(existing: string, ours: string): string {
  const before = parseObject(existing);
  const after = parseObject(ours);
  if (before === undefined || after === undefined) return ours;
  try {
    return JSON.stringify(mergeObjects(before, after), undefined, 2);
  } catch {
    // Nested deeper than can be written: no settings of any agent.
    return ours;
  }
}

type JsonObject = Record<string, unknown>;

function mergeObjects(before: JsonObject, ours: JsonObject): JsonObject {
  const merged: JsonObject = { ...before };
  for (const [key, value] of Object.entries(ours)) {
    const earlier = Object.hasOwn(merged, key) ? merged[key] : undefined;
    const both = isObject(earlier) && isObject(value) ? mergeObjects(earlier, value) : value;
    // A plain assignment would take a key named __proto__ for the prototype.
    Object.defineProperty(merged, key, { value: both, enumerable: true, configurable: true, writable: true });
  }
  return merged;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
