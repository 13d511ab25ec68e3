// Bundles the sources into dist/. A process that runs while this works sees the old build or the new one:
// chunks have their content's hash in their name and come first, entries are replaced by rename, one by one.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { fail, root, run, step } from "./steps.mjs";

const dist = join(root, "dist");
const stampName = "inputs.sha256";
/** Long enough for every process that started from an older build to have loaded what it may still load. */
const staleChunkMs = 7 * 24 * 60 * 60 * 1000;

async function listFiles(directory) {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** One digest over everything the build reads; equal digest, equal build. */
async function digestInputs() {
  const folders = await Promise.all(["src", "web"].map((name) => listFiles(join(root, name))));
  const sources = folders.flat().filter((file) => !file.endsWith(".test.ts"));
  const settings = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "scripts/build.mjs",
    "scripts/build-boxd.mjs",
    "scripts/build-web.mjs",
    "scripts/merge-chunks.mjs",
  ];
  const hash = createHash("sha256");
  for (const file of [...sources.sort(), ...settings.map((name) => join(root, name))]) {
    hash
      .update(relative(root, file))
      .update("\0")
      .update(await readFile(file))
      .update("\0");
  }
  return hash.digest("hex");
}

/** A bundled CommonJS package may call `require` for built-ins, or ask where it lies; ES modules have neither. */
const requireBanner =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url); const __dirname = import.meta.dirname;';

async function bundle(outdir, digest) {
  const esbuild = await import("esbuild");
  const { mergeChunks } = await import("./merge-chunks.mjs");
  const shared = {
    outdir,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    // Identifiers stay, so that a stack in the daemon's log can be read.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "warning",
    // Native, or it looks for files next to itself.
    external: ["libsql", "@libsql/*", "dockerode"],
    banner: { js: requireBanner },
  };
  const [{ metafile }] = await Promise.all([
    // Split, so that a command loads its own chunk and a driver that is not used is never read. In a directory of this
    // build's own: a daemon that runs goes on with the chunks of the build it came from.
    esbuild.build({
      ...shared,
      entryPoints: { main: join(root, "src/main/index.ts") },
      splitting: true,
      chunkNames: `chunks/${digest.slice(0, 12)}/[name]-[hash]`,
      metafile: true,
      absWorkingDir: root,
    }),
    esbuild.build({
      ...shared,
      entryPoints: {
        sdk: join(root, "src/client/index.ts"),
        conformance: join(root, "src/ports/runtime.conformance.ts"),
      },
    }),
  ]);
  await mergeChunks(esbuild, { outputs: absolute(metafile.outputs) }, shared);
}

/** The outputs by where they are, and not by where they are seen from. */
const absolute = (outputs) =>
  Object.fromEntries(
    Object.entries(outputs).map(([path, { imports, ...output }]) => [
      join(root, path),
      {
        ...output,
        imports: imports.map((one) => (one.external ? one : { ...one, path: join(root, one.path) })),
      },
    ]),
  );

/** Declarations of what outsiders import. Type errors are the business of `npm run check`, not of the build. */
async function emitTypes(staging) {
  const entries = ["src/client/index.ts", "src/ports/runtime.conformance.ts"];
  const outdir = join(staging, "types");
  const settings = join(staging, "tsconfig.json");
  await writeFile(
    settings,
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: join(root, "src"),
        outDir: outdir,
        typeRoots: [join(root, "node_modules/@types")],
      },
      files: entries.map((entry) => join(root, entry)),
      include: [],
    }),
  );
  const { output } = await run([join(root, "node_modules/.bin/tsc"), "-p", settings]);
  await rm(settings);
  const written = await listFiles(outdir).catch(() => []);
  if (written.length === 0) throw new Error(`the type declarations could not be written. ${output}`);
}

/** Moves a finished build over the old one: what is referred to before what refers to it. */
async function publish(staging) {
  const order = (file) =>
    /^chunks\/|^web\/(?!index)/.test(file) ? 0 : file === "main.js" ? 2 : file === stampName ? 3 : 1;
  const files = (await listFiles(staging))
    .map((file) => relative(staging, file))
    .sort((a, b) => order(a) - order(b));
  for (const file of files) {
    await mkdir(dirname(join(dist, file)), { recursive: true });
    await rename(join(staging, file), join(dist, file));
  }
  const current = new Set(files);
  for (const file of await listFiles(dist)) {
    if (current.has(relative(dist, file))) continue;
    // A page that is open goes on with the scripts it came with, as a daemon does.
    const isChunk = /^(chunks|web)\//.test(relative(dist, file));
    const ageMs = Date.now() - (await stat(file)).mtimeMs;
    if (!isChunk || ageMs > staleChunkMs) await rm(file);
  }
}

async function buildInto(staging, digest) {
  const { buildBoxd } = await import("./build-boxd.mjs");
  const { buildWeb } = await import("./build-web.mjs");
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  await Promise.all([bundle(staging, digest), emitTypes(staging), buildWeb(staging)]);
  await buildBoxd(staging);
  await writeFile(join(staging, "version"), version);
  await writeFile(join(staging, stampName), digest);
}

export async function build() {
  const digest = await digestInputs();
  const previous = await readFile(join(dist, stampName), "utf8").catch(() => "");
  if (previous === digest) return;
  await step("Building", async () => {
    // In the repository, so that a rename never crosses a file system; not in dist, where others would see it.
    const cache = join(root, "node_modules", ".cache");
    await mkdir(cache, { recursive: true });
    const staging = await mkdtemp(join(cache, "build-"));
    try {
      await buildInto(staging, digest);
      await publish(staging);
    } catch (error) {
      await rm(staging, { recursive: true, force: true });
      fail(`The build failed: ${error.message.split("\n")[0]}`);
    }
    await rm(staging, { recursive: true, force: true });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await build();
