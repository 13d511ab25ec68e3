// Writes the JSON Schema and the reference documents from the sources; with --check, only says which are stale.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");

/** Node 20 cannot import TypeScript, so the one module that knows the texts is bundled first. */
async function loadTexts() {
  const cache = join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, "generate-"));
  try {
    const outfile = join(directory, "reference.mjs");
    const entry = join(root, "scripts/reference.ts");
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: "neutral",
      mainFields: ["module", "main"],
      format: "esm",
      target: "es2023",
      logLevel: "warning",
    });
    return (await import(pathToFileURL(outfile).href)).generatedFiles();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const isCheck = process.argv.includes("--check");
const stale = [];
for (const [path, text] of Object.entries(await loadTexts())) {
  const file = join(root, path);
  const current = await readFile(file, "utf8").catch(() => undefined);
  if (current === text) continue;
  stale.push(path);
  if (isCheck) continue;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
for (const path of stale) console.log(isCheck ? `stale: ${path}` : `wrote ${path}`);
if (isCheck && stale.length > 0) {
  console.error('Generated files are stale. Run "npm run generate" and commit the result.');
  process.exitCode = 1;
}
