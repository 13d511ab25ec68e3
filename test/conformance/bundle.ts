/** Bundles a script of this folder to a place where any user may run it with plain Node. */
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

export async function bundleScript(script: string, directory: string): Promise<string> {
  const outfile = join(directory, script.replace(/\.ts$/, ".mjs"));
  await build({
    entryPoints: [join(import.meta.dirname, script)],
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    outfile,
    external: ["cpu-features", "*.node"],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url); const __dirname = import.meta.dirname;',
    },
    logLevel: "silent",
  });
  await chmod(outfile, 0o644);
  return outfile;
}
