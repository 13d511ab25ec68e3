import { posix } from "node:path";
import { parseSync } from "oxc-parser";
import type { SourceFile } from "./source-files.ts";

const smallLines = 40;
const maxLines = 400;

/** Small files with one importer that are more than a part of it, each with the reason. */
const ownFiles: Readonly<Record<string, string>> = {
  "src/drivers/store/sqlite/secret-grant-table.ts": "one file for each table of the database",
  "src/services/storage/remove-box-tree.ts": "a test runs it alone, as another user",
  "src/services/secret-scan/scan-thread.ts": "its own address is what a thread loads",
};

const lineCount = ({ text }: SourceFile): number => text.split("\n").length - 1;
const isTest = (path: string): boolean => /\.(test|fixture|conformance)\.tsx?$/.test(path);

/** Relative specifiers of a file, without building its syntax tree: there are two thousand files to ask. */
function readSpecifiers({ path, text }: SourceFile): readonly string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(path, text).module;
  return [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value ?? "")),
    ...dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start + 1, moduleRequest.end - 1)),
  ].filter((specifier) => specifier.startsWith("."));
}

interface Exports {
  /** Nothing but types: it stands for a thing that others speak of. */
  readonly isTypes: boolean;
  /** Imported types that its values are declared as, and signatures of its functions that have such a type. */
  readonly kinds: readonly string[];
}

function readExports({ path, text }: SourceFile): Exports {
  const { body } = parseSync(path, text).program;
  const imported = new Set<string>();
  const kinds: string[] = [];
  let isTypes = true;
  const importedIn = (type: string) => (type.match(/\b[A-Z]\w*/g) ?? []).filter((name) => imported.has(name));
  for (const node of body) {
    if (node.type === "ImportDeclaration") for (const { local } of node.specifiers) imported.add(local.name);
    const declared = node.type === "ExportNamedDeclaration" ? node.declaration : node;
    if (
      !["ImportDeclaration", "TSInterfaceDeclaration", "TSTypeAliasDeclaration"].includes(
        declared?.type ?? "",
      )
    )
      isTypes = false;
    if (node.type !== "ExportNamedDeclaration") continue;
    if (declared?.type === "VariableDeclaration")
      for (const { id } of declared.declarations)
        if (id.typeAnnotation)
          kinds.push(...importedIn(text.slice(id.typeAnnotation.start, id.typeAnnotation.end)));
    if (declared?.type === "FunctionDeclaration" && declared.returnType && declared.body) {
      const start = declared.params[0]?.start ?? declared.body.start;
      const signature = text.slice(start, declared.body.start).replaceAll(/\s+/g, "");
      if (importedIn(signature).length > 0) kinds.push(signature);
    }
  }
  return { isTypes, kinds };
}

/**
 * Files below forty lines that one file of their folder reads, and nothing else does: each is a part of that file. Not
 * so what is only types, one of several of a kind (an agent, a preset, a table of commands), or would make the importer
 * too long.
 */
export function findParts(files: readonly SourceFile[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const importers = new Map<string, Set<string>>();
  for (const file of files)
    for (const specifier of readSpecifiers(file)) {
      const target = posix.join(posix.dirname(file.path), specifier);
      if (byPath.has(target)) importers.set(target, (importers.get(target) ?? new Set()).add(file.path));
    }

  const hasKin = ({ path }: SourceFile, kinds: readonly string[]): boolean =>
    files.some(
      (other) =>
        other.path !== path &&
        posix.dirname(other.path) === posix.dirname(path) &&
        !isTest(other.path) &&
        readExports(other).kinds.some((kind) => kinds.includes(kind)),
    );

  return files.flatMap((file) => {
    const { path } = file;
    const [only = "", ...others] = importers.get(path) ?? [];
    const importer = byPath.get(only);
    if (lineCount(file) >= smallLines || isTest(path) || posix.basename(path) === "index.ts") return [];
    if (!importer || others.length > 0 || isTest(only) || posix.dirname(only) !== posix.dirname(path))
      return [];
    if (path in ownFiles || lineCount(file) + lineCount(importer) > maxLines) return [];
    // A table of contents is no reader: what it names is read by others through it.
    if (importer.text.includes(`export * from "./${posix.basename(path)}"`)) return [];
    const { isTypes, kinds } = readExports(file);
    if (isTypes || (kinds.length > 0 && hasKin(file, kinds))) return [];
    return [`${path} (${lineCount(file)} lines) is a part of ${only}, which alone reads it`];
  });
}
