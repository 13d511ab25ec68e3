// Bundles serve.ts and runs it: node test/model/serve.mjs --port 9999 --script write-and-run
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const directory = await mkdtemp(join(tmpdir(), "scripted-model-"));
const outfile = join(directory, "serve.mjs");
try {
  await build({
    entryPoints: [join(dirname(fileURLToPath(import.meta.url)), "serve.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    // ws is CommonJS and requires node's modules.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  await import(pathToFileURL(outfile).href);
} finally {
  await rm(directory, { recursive: true, force: true });
}
