// Bundles the dashboard into <staging>/web: one page, scripts and one style sheet with their content's hash in their
// names, each with a gzip copy beside it, so that the daemon need not compress while a page loads.
import { cp, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { root } from "./steps.mjs";

const compress = promisify(gzip);
const compressed = /\.(js|css|svg|html)$/;

export async function buildWeb(staging) {
  const esbuild = await import("esbuild");
  const outdir = join(staging, "web");
  await mkdir(outdir, { recursive: true });
  const { metafile } = await esbuild.build({
    entryPoints: [join(root, "web/src/main.tsx"), join(root, "web/src/styles.css")],
    outdir,
    entryNames: "[name]-[hash]",
    chunkNames: "chunk-[hash]",
    assetNames: "asset-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    absWorkingDir: root,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const built = (prefix) => {
    const names = Object.keys(metafile.outputs).map((path) => basename(path));
    return names.find((name) => name.startsWith(prefix));
  };
  const page = await readFile(join(root, "web/index.html"), "utf8");
  await writeFile(
    join(outdir, "index.html"),
    page.replace("%SCRIPT%", built("main-")).replace("%STYLE%", built("styles-")),
  );
  await cp(join(root, "web/icon.svg"), join(outdir, "icon.svg"));
  for (const name of (await readdir(outdir)).filter((name) => compressed.test(name) && name !== "index.html"))
    await writeFile(
      join(outdir, `${name}.gz`),
      await compress(await readFile(join(outdir, name)), { level: 9 }),
    );
}
