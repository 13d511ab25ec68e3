// `npm run bench -- [--json] [--only NAME]`: every file of bench/ is a row. With --json, stdout is exactly one object.
import { mkdir, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { fail, root } from "./steps.mjs";
import { ensurePrograms } from "./system-packages.mjs";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, only: { type: "string", multiple: true } },
});

// Rows and set-up may say what they do; in JSON mode that goes to stderr, because stdout belongs to the answer.
if (values.json) console.log = console.error;

await import("./setup.mjs");
const files = (await readdir(join(root, "bench"))).filter((file) => file.endsWith(".ts")).sort();
const names = files.map((file) => basename(file, ".ts"));
const chosen = values.only ?? names;
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) fail(`There is no row ${unknown.join(", ")}. There are: ${names.join(", ")}.`);

/** Node 20 does not read TypeScript; below node_modules, so that packages are found from there. */
async function compile() {
  const { build } = await import("esbuild");
  const outdir = join(root, "node_modules", ".cache", `bench-${process.pid}`);
  await mkdir(outdir, { recursive: true });
  await build({
    entryPoints: files.map((file) => join(root, "bench", file)),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "warning",
  });
  return outdir;
}

async function runRow(outdir, name) {
  const { default: row } = await import(pathToFileURL(join(outdir, `${name}.mjs`)).href);
  process.stderr.write(`${name}: ${row.about} …\n`);
  const programs = await ensurePrograms(row.needs ?? {});
  if (!programs.isInstalled)
    return [{ name, skipped: `${Object.keys(row.needs).join(", ")} needed. ${programs.reason}` }];
  try {
    return await row.run();
  } catch (error) {
    // A row that breaks is not a row that was skipped: it fails, and the others still run.
    process.stderr.write(`${name} broke: ${error.stack}\n`);
    return [{ name, unit: "", ours: null, peer: null, peerName: "", ratio: null, goal: null, ok: false }];
  }
}

function printTable(results) {
  for (const row of results) {
    if (row.skipped) console.log(`-       ${row.name}: skipped, ${row.skipped}`);
    else {
      const goal = row.goal === null ? "no goal" : `goal ${row.goal}`;
      console.log(
        `${row.ok ? "ok    " : "MISSED"}  ${row.name}: ${row.ours} ${row.unit}, ${row.peerName} ${row.peer} ${row.unit}: ` +
          `ratio ${row.ratio} (${goal})`,
      );
    }
  }
}

const outdir = await compile();
const results = [];
try {
  for (const name of chosen) results.push(...(await runRow(outdir, name)));
} finally {
  await rm(outdir, { recursive: true, force: true });
}
if (values.json) process.stdout.write(`${JSON.stringify({ results })}\n`);
else printTable(results);
process.exitCode = results.some((row) => row.ok === false) ? 1 : 0;
