import { posix } from "node:path";
import { Visitor, parseSync } from "oxc-parser";
import type { SourceFile } from "./source-files.ts";

const belowDaemon = [
  "base",
  "contract",
  "manifest",
  "safe-path",
  "host",
  "ports",
  "agents",
  "client",
  "core",
  "services",
  "drivers",
  "boxd",
] as const;

/** The table of ARCHITECTURE.md: which folder of src may import which others. */
export const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  contract: ["base"],
  manifest: ["base", "contract"],
  "safe-path": ["base"],
  host: ["base", "safe-path"],
  ports: ["base", "contract", "manifest"],
  agents: ["base", "contract", "manifest"],
  client: ["base", "contract"],
  core: ["base", "contract", "manifest", "ports", "agents"],
  services: ["base", "contract", "manifest", "safe-path", "host", "ports"],
  drivers: ["base", "contract", "safe-path", "host", "ports"],
  boxd: ["base", "contract", "safe-path"],
  demo: ["base", "contract"],
  daemon: belowDaemon,
  cli: ["base", "contract", "manifest", "host", "client", "agents"],
  main: [...belowDaemon, "daemon", "cli"],
};

/** Where core is put together; everywhere else a function names the parts it uses. */
const knowsAllOfCore = /^src\/(?:core\/(?:context|using)|daemon\/handlers\/handlers|main\/.*)\.ts$/;

/** The parts of the program that the dashboard may import; it runs in a browser. */
const knownToWeb = ["base", "contract", "manifest", "client"];

/** boxd is a program of its own, and this is where it starts and ends. */
const boxdEntry = "src/boxd/main.ts";

export interface ImportUse {
  readonly specifier: string;
  /**
   * Erased by the compiler: no cost at run time, but still knowledge of the other layer. Only where the whole
   * statement says `type`: of `import { type A }` the import itself stays (verbatimModuleSyntax).
   */
  readonly isTypeOnly: boolean;
  readonly isDynamic: boolean;
}

interface Facts {
  readonly imports: readonly ImportUse[];
  /** `process.env`, `process.exit`, `throw new Error`, imports of computed names and of all of core, as found. */
  readonly phrases: ReadonlySet<string>;
}

const known = new WeakMap<SourceFile, Facts>();

export function readFacts(file: SourceFile): Facts {
  const facts = known.get(file) ?? parseFacts(file);
  known.set(file, facts);
  return facts;
}

function parseFacts({ path, text }: SourceFile): Facts {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new SyntaxError(`${path}: ${errors[0]?.message}`);
  const imports: ImportUse[] = [];
  const phrases = new Set<string>();
  const add = (specifier: string, isTypeOnly: boolean, isDynamic = false) =>
    imports.push({ specifier, isTypeOnly, isDynamic });
  new Visitor({
    ImportDeclaration(node) {
      add(node.source.value, node.importKind === "type");
      const names = node.specifiers.flatMap((one) =>
        one.type === "ImportSpecifier" ? [text.slice(one.imported.start, one.imported.end)] : [],
      );
      if (node.source.value.endsWith("/context.ts") && names.includes("Core")) phrases.add("whole core");
    },
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind === "type"),
    ExportNamedDeclaration(node) {
      if (node.source) add(node.source.value, node.exportKind === "type");
    },
    ImportExpression(node) {
      if (node.source.type === "Literal" && typeof node.source.value === "string")
        add(node.source.value, false, true);
      else phrases.add("computed import");
    },
    TSImportType: (node) => void add(node.source.value, true),
    ThrowStatement({ argument }) {
      if (
        argument.type === "NewExpression" &&
        argument.callee.type === "Identifier" &&
        argument.callee.name === "Error"
      ) {
        phrases.add("throw new Error");
      }
    },
    MemberExpression({ object, property }) {
      if (object.type !== "Identifier" || object.name !== "process") return;
      const name =
        property.type === "Identifier" ? property.name : property.type === "Literal" ? property.value : "";
      if (name === "env" || name === "exit") phrases.add(`process.${name}`);
    },
  }).visit(program);
  return { imports, phrases };
}

/** The folders below src that a path names: `src/drivers/runtime/bubblewrap/argv.ts` → drivers, runtime, bubblewrap. */
const foldersOf = (path: string) => path.split("/").slice(1, -1);

/** Where a relative import points, as a path from the root of the repository. */
const resolveImport = (from: string, specifier: string) => posix.join(posix.dirname(from), specifier);

function judgeInside(path: string, target: string): string | undefined {
  const [layer = "", ...own] = foldersOf(path);
  const [targetLayer = "", ...other] = foldersOf(target);
  if (!target.startsWith("src/")) return `imports ${target}, which is outside src`;
  if (layer !== targetLayer) {
    if (!(layers[layer] ?? []).includes(targetLayer))
      return `is in ${layer}, which may not import ${targetLayer} (${target})`;
    // Outside its own folder a service is its index.ts.
    if (targetLayer === "services" && !/^src\/services\/[^/]+\/index\.ts$/.test(target)) {
      return `reaches into a service past its index.ts (${target})`;
    }
    return undefined;
  }
  if (layer === "services" && own[0] !== other[0] && !/^src\/services\/[^/]+\/index\.ts$/.test(target)) {
    return `reaches into a service past its index.ts (${target})`;
  }
  // A driver is two folders deep: kind and name. Drivers of one kind may share files that lie directly in the kind's folder.
  if (layer === "drivers" && other.length > 1 && own.slice(0, 2).join("/") !== other.slice(0, 2).join("/")) {
    return `is a driver that imports another driver (${target})`;
  }
  return undefined;
}

function judgePackage(path: string, use: ImportUse): string | undefined {
  const [layer = ""] = foldersOf(path);
  const { specifier, isTypeOnly, isDynamic } = use;
  const isBuiltin = specifier.startsWith("node:");
  if (["base", "contract", "manifest"].includes(layer) && isBuiltin) {
    return `is in ${layer}, which runs in a browser, and imports ${specifier}`;
  }
  if (layer === "base" && !isBuiltin) return `is in base, which depends on nothing, and imports ${specifier}`;
  // boxd starts once per box: a schema library would cost every box memory and time.
  if (layer === "boxd" && specifier === "zod" && !isTypeOnly) return "is in boxd and imports zod at run time";
  // A command that only asks the daemon must start about as fast as Node itself.
  if (layer === "cli" && specifier === "zod" && !isTypeOnly && !isDynamic)
    return "is in cli and imports zod statically";
  return undefined;
}

function judgeWebImport(path: string, { specifier }: ImportUse): string | undefined {
  if (specifier.startsWith("node:")) return `is in web, which runs in a browser, and imports ${specifier}`;
  if (!specifier.startsWith(".")) return undefined;
  const target = resolveImport(path, specifier);
  if (target.startsWith("web/src/")) return undefined;
  const [layer = ""] = foldersOf(target);
  if (!target.startsWith("src/") || !knownToWeb.includes(layer))
    return `is in web, which may not import ${target}`;
  // It speaks to a socket of this machine, which no page can.
  if (target === "src/client/index.ts" || target === "src/client/unix-transport.ts")
    return `is in web and imports ${target}; client.ts runs in a browser`;
  return undefined;
}

/** SECURITY: text that becomes markup, or code, is how a name in a repository takes over the page. */
const markupSinks =
  /dangerouslySetInnerHTML|\.(?:innerHTML|outerHTML)\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(/;

/** Every rule that a file of the dashboard breaks. */
export function judgeWeb(file: SourceFile): readonly string[] {
  if (/\.test\.tsx?$/.test(file.path)) return [];
  const { imports, phrases } = readFacts(file);
  const findings = imports.map((use) => judgeWebImport(file.path, use));
  if (phrases.has("computed import")) findings.push("imports a computed name, which no check can follow");
  if (phrases.has("throw new Error")) findings.push("throws a bare Error instead of an AgentBoxError");
  if (markupSinks.test(file.text)) findings.push("makes markup or code from text");
  return findings.filter((finding) => finding !== undefined).map((finding) => `${file.path} ${finding}`);
}

/** Every rule that a file of src breaks, as sentences that start with its path. */
export function judge(file: SourceFile): readonly string[] {
  if (file.path.endsWith(".test.ts")) return [];
  const { imports, phrases } = readFacts(file);
  const [layer = ""] = foldersOf(file.path);
  const findings: (string | undefined)[] = imports.map((use) =>
    use.specifier.startsWith(".")
      ? judgeInside(file.path, resolveImport(file.path, use.specifier))
      : judgePackage(file.path, use),
  );
  if (!(layer in layers)) findings.push(`is in ${layer || "src itself"}, which is no layer`);
  if (phrases.has("computed import")) findings.push("imports a computed name, which no check can follow");
  if (phrases.has("throw new Error")) findings.push("throws a bare Error instead of an AgentBoxError");
  if (phrases.has("process.env") && file.path !== "src/host/env.ts") findings.push("reads process.env");
  if (phrases.has("whole core") && !knowsAllOfCore.test(file.path))
    findings.push("takes the whole of Core; name the parts that it uses, with Using of core/using.ts");
  if (phrases.has("process.exit") && layer !== "main" && file.path !== boxdEntry)
    findings.push("calls process.exit");
  return findings.filter((finding) => finding !== undefined).map((finding) => `${file.path} ${finding}`);
}

/**
 * The packages that a file loads at run time, directly or through its static imports, each with the file that brings it
 * in.
 */
export function loadedPackages(
  entry: string,
  sources: ReadonlyMap<string, SourceFile>,
): ReadonlyMap<string, string> {
  const packages = new Map<string, string>();
  const seen = new Set<string>();
  const follow = (path: string) => {
    const file = sources.get(path);
    if (seen.has(path) || !file) return;
    seen.add(path);
    for (const { specifier, isTypeOnly, isDynamic } of readFacts(file).imports) {
      if (isTypeOnly || isDynamic) continue;
      if (specifier.startsWith(".")) follow(resolveImport(path, specifier));
      else if (!specifier.startsWith("node:") && !packages.has(specifier)) packages.set(specifier, path);
    }
  };
  follow(entry);
  return packages;
}

/**
 * Groups of files that need one another to be loaded: Node runs one of them before what it imports is there. Types are
 * erased and do not count, and what is loaded later (`import()`) does not either.
 */
export function valueCycles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const imported = new Map(
    files.map((file) => [
      file.path,
      readFacts(file)
        .imports.filter(
          ({ isTypeOnly, isDynamic, specifier }) => !isTypeOnly && !isDynamic && specifier.startsWith("."),
        )
        .map(({ specifier }) => resolveImport(file.path, specifier)),
    ]),
  );
  const reached = new Map<string, ReadonlySet<string>>();
  for (const { path } of files) {
    const seen = new Set<string>();
    const waiting = [...(imported.get(path) ?? [])];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(...(imported.get(next) ?? []));
    }
    reached.set(path, seen);
  }
  const inCycle = files.map(({ path }) => path).filter((path) => reached.get(path)?.has(path));
  const groups = inCycle.map((path) =>
    inCycle.filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path)),
  );
  return groups.filter((group, index) => group[0] === inCycle[index]);
}
