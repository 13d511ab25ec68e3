// Builds boxd: one small file that boots fast, one with the terminal emulator that is loaded when needed, and the
// native half of node-pty. The directory needs nothing beside it: a box has no node_modules.
import { cpSync, copyFileSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const options = {
  bundle: true,
  platform: "node",
  target: "node20",
  // CommonJS, because Node starts it several milliseconds sooner than a module.
  format: "cjs",
  minify: true,
  legalComments: "none",
  logLevel: "warning",
  define: { "import.meta.url": "__boxdUrl" },
  banner: { js: 'const __boxdUrl=require("node:url").pathToFileURL(__filename).href;' },
};

const emulatorApart = {
  name: "emulator-apart",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/emulator\.ts$/ }, () => ({ path: "./emulator.js", external: true })),
};

function nativePty() {
  const require = createRequire(join(root, "package.json"));
  const fromPty = createRequire(require.resolve("@lydell/node-pty"));
  return fromPty.resolve(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`);
}

export async function buildBoxd(outDir) {
  const directory = join(outDir, "boxd");
  mkdirSync(directory, { recursive: true });
  const source = join(root, "src/boxd");
  await build({
    ...options,
    entryPoints: [join(source, "main.ts")],
    outfile: join(directory, "boxd.js"),
    plugins: [emulatorApart],
    // import() would start Node's module loader for a file that require() can read.
    supported: { "dynamic-import": false },
  });
  await build({
    ...options,
    entryPoints: [join(source, "sessions/emulator.ts")],
    outfile: join(directory, "emulator.js"),
  });
  await build({
    ...options,
    entryPoints: [join(root, "src/demo/main.ts")],
    outfile: join(directory, "demo.js"),
  });
  copyFileSync(nativePty(), join(directory, "pty.node"));
  cpSync(join(source, "shims"), join(directory, "shims"), { recursive: true });
  // `apt` is the same script, which reads the name it was called by.
  cpSync(join(directory, "shims/debian/apt-get"), join(directory, "shims/debian/apt"));
  mkdirSync(join(directory, "masks"), { recursive: true });
  // In the place of files that hold credentials; Maven takes no empty one.
  writeFileSync(join(directory, "masks/empty"), "");
  writeFileSync(join(directory, "masks/settings.xml"), "<settings/>\n");
  // `gem` has no variables for these: it takes the system's directories unless a file says otherwise.
  writeFileSync(join(directory, "gemrc"), "gem: --user-install --bindir /home/agent/.local/bin\n");
  // The nearest package.json decides how Node reads a .js file, and ours above says "module".
  writeFileSync(join(directory, "package.json"), '{"type":"commonjs"}\n');
  return Object.fromEntries(
    ["boxd.js", "emulator.js", "demo.js", "pty.node"].map((name) => [
      name,
      statSync(join(directory, name)).size,
    ]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sizes = await buildBoxd(process.argv[2] ?? join(root, "dist"));
  for (const [name, bytes] of Object.entries(sizes))
    process.stdout.write(`${name}\t${(bytes / 1024).toFixed(0)} KiB\n`);
}
