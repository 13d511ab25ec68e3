/**
 * Finds an npm package's program. Many agents are native programs in packages of their own, one for each system and
 * processor, and an install script puts the right one in place of a stub. No script runs here, so the program is
 * taken from where it lies; that also saves a Node process that would only pass things on.
 */
import { readFile, realpath } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import { pathKind } from "../../host/files.ts";
import type { NpmRecipe } from "./npm.ts";
import { type TreeEntry, readTree } from "./tree.ts";

const Manifest = z.object({
  optionalDependencies: z.record(z.string(), z.string()).default({}),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
});

type NamedRecipe = NpmRecipe & { readonly bin: string };

const platformName = /(?:^|[-_/])(?:linux|darwin|win32|windows|freebsd|android)/;

export async function findNpmProgram(tree: string, asked: NpmRecipe): Promise<string> {
  const modules = join(tree, "node_modules");
  const { optionalDependencies, bin } = Manifest.parse(
    JSON.parse(await readFile(join(modules, asked.package, "package.json"), "utf8")),
  );
  const recipe = { ...asked, bin: asked.bin ?? usualProgram(asked.package, bin) };
  const own = Object.keys(optionalDependencies).filter((name) => isOwnPlatform(name, recipe));
  if (own.length > 0) return findNative(modules, own, recipe);
  const linked = await realpath(join(modules, ".bin", recipe.bin)).catch(() => undefined);
  if (linked !== undefined) return relative(await realpath(tree), linked);
  throw new AgentBoxError(
    "tool.install_failed",
    `The package ${recipe.package} has no program named "${recipe.bin}".`,
    { hint: "Check the name of the program in the agent's definition.", facts: { package: recipe.package } },
  );
}

/** As npx chooses: the only one, or that of the package's own name. */
function usualProgram(name: string, bin: z.infer<typeof Manifest>["bin"]): string {
  const names = typeof bin === "object" ? Object.keys(bin) : [];
  return names.length === 1 ? names[0]! : basename(name);
}

/** `codex-linux-x64` is the program of codex; `node-pty-linux-x64` is a part it can do without. */
function isOwnPlatform(name: string, { package: main, bin }: NamedRecipe): boolean {
  const short = basename(name);
  return [basename(main), bin].some((stem) => short.startsWith(`${stem}-`)) && platformName.test(short);
}

async function findNative(modules: string, own: readonly string[], recipe: NamedRecipe): Promise<string> {
  const found: string[] = [];
  for (const name of own) {
    const dir = join(modules, name);
    if ((await pathKind(dir)) !== "dir") continue;
    const program = (await readTree(dir)).find((entry) => isProgram(entry, recipe.bin));
    if (program) found.push(join("node_modules", name, program.path));
  }
  const program = choose(found, await readCpuFlags());
  if (program !== undefined) return program;
  throw new AgentBoxError(
    "tool.unsupported",
    `${recipe.package} has no program for ${process.platform}-${process.arch}.`,
    {
      hint: "Choose another version, or another agent; its own documentation lists where it runs.",
      facts: { package: recipe.package, platform: `${process.platform}-${process.arch}` },
    },
  );
}

const isProgram = ({ kind, mode, path }: TreeEntry, bin: string): boolean =>
  kind === "file" && (mode & 0o111) !== 0 && basename(path) === bin;

/** Some have one build for every processor of the family (`-baseline`) beside one that needs newer instructions. */
function choose(programs: readonly string[], cpuFlags: string): string | undefined {
  const sorted = [...programs].sort((a, b) => a.length - b.length);
  const baseline = sorted.find((path) => path.includes("-baseline"));
  return baseline !== undefined && process.arch === "x64" && !/\bavx2\b/.test(cpuFlags)
    ? baseline
    : sorted[0];
}

const readCpuFlags = (): Promise<string> => readFile("/proc/cpuinfo", "utf8").catch(() => "");
