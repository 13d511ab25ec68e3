// `node scripts/danger-false-alarms.mjs [--commits N] [--json] [--why KIND] GIT-DIR…`: how many kinds of danger the review
// names in ordinary commits. Nothing of the repositories is run or kept.
import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { fail, root } from "./steps.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commits: { type: "string", default: "200" },
    json: { type: "boolean", default: false },
    why: { type: "string" },
  },
});
if (positionals.length === 0) fail("Name the .git directories of the repositories to measure with.");

const outdir = join(root, "node_modules", ".cache", `false-alarms-${process.pid}`);
await mkdir(outdir, { recursive: true });
try {
  const entry = join(root, "bench", "support", "false-alarms.ts");
  await build({
    entryPoints: [entry],
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // The scan for secrets is a thread, which needs a file of its own.
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "warning",
  });
  const { looksOf, summarise } = await import(pathToFileURL(join(outdir, "false-alarms.mjs")).href);
  const nameOf = (path) =>
    basename(path) === "repo" || basename(path) === ".git" ? basename(dirname(path)) : basename(path);
  const rows = [];
  const all = [];
  for (const path of positionals) {
    const looks = await looksOf(resolve(path), Number(values.commits));
    all.push(...looks);
    rows.push({ repository: nameOf(path), ...summarise(looks) });
    if (values.why !== undefined) {
      for (const { commit, dangers } of looks)
        for (const { path: file, why } of dangers.filter(({ kind }) => kind === values.why))
          console.error(`${nameOf(path)} ${commit.slice(0, 9)} ${file}: ${why}`);
    }
  }
  rows.push({ repository: "all", ...summarise(all) });
  if (values.json) console.log(JSON.stringify(rows, null, 2));
  else {
    for (const { repository, commits, median, mean, p90, max, none, byKind } of rows) {
      const kinds = Object.entries(byKind).map(([kind, count]) => `${kind} ${count}`);
      console.log(
        `${repository}: ${commits} commits, kinds a commit: median ${median}, mean ${mean.toFixed(2)}, p90 ${p90}, max ${max}; without any ${(none * 100).toFixed(0)} %\n    ${kinds.join(", ")}`,
      );
    }
  }
} finally {
  await rm(outdir, { recursive: true, force: true });
}
