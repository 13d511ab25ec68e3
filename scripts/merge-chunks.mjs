// Puts what the most used commands load into one file. Splitting makes a chunk for every set of entries that share
// something, and Node opens, reads and links each of them before a command may begin: forty files take longer than one
// of the same size. Every chunk keeps its name and its exports, so each module still exists once in a process.
import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const roots = ["src/cli/index.ts", "src/cli/daemon/connect.ts", "src/cli/commands/run.ts"];
const merged = "command.js";

/** The chunks that Node reads when it loads these, without what is only loaded on demand. */
function staticClosure(outputs, entries) {
  const closure = new Set(entries);
  for (const path of closure)
    for (const { path: imported, kind, external } of outputs[path].imports)
      if (!external && kind === "import-statement") closure.add(imported);
  return [...closure];
}

/** In esbuild's words: what is loaded on demand, and what Node has itself, stays as it is written. */
const keepOnDemand = {
  name: "keep-on-demand",
  setup: ({ onResolve }) =>
    onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path, external: true } : undefined,
    ),
};

export async function mergeChunks(esbuild, { outputs }, shared) {
  const entries = Object.keys(outputs).filter((path) => roots.includes(outputs[path].entryPoint));
  if (entries.length !== roots.length) throw new Error(`not every one of ${roots.join(", ")} is a chunk`);
  const chunks = staticClosure(outputs, entries);
  const directory = dirname(chunks[0]);
  const lines = chunks.map((path, index) => {
    const names = outputs[path].exports.map((name) => `${name} as c${index}_${name}`);
    return `export { ${names.join(", ")} } from "./${basename(path)}";`;
  });
  await esbuild.build({
    stdin: { contents: lines.join("\n"), resolveDir: directory, loader: "js" },
    outfile: join(directory, merged),
    bundle: true,
    platform: shared.platform,
    format: shared.format,
    target: shared.target,
    minifySyntax: shared.minifySyntax,
    minifyWhitespace: shared.minifyWhitespace,
    legalComments: shared.legalComments,
    logLevel: shared.logLevel,
    external: shared.external,
    plugins: [keepOnDemand],
  });
  // Only now: they were its sources.
  await Promise.all(
    chunks.map(async (path, index) => {
      const names = outputs[path].exports.map((name) => `c${index}_${name} as ${name}`);
      await writeFile(path, `export{${names.join(",")}}from"./${merged}";\n`);
    }),
  );
}
