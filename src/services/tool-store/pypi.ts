/**
 * Packages from the Python index, fetched by a Python below /usr: boxes see the host's /usr and no other Python.
 * SECURITY: wheels only. Building from source would execute the package on the host.
 */
import { chmod, copyFile, mkdir, readFile, readdir, realpath, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import type { InstallRecipe } from "../../contract/agent.ts";
import { removeTree } from "../../host/files.ts";
import { runInstaller } from "./installer-process.ts";
import { type Fetch, type Fetched, lastWords } from "./recipe.ts";

export type PypiRecipe = Extract<InstallRecipe, { kind: "pypi" }>;

/** Where a Python looks that has a pyvenv.cfg; the same for all versions, by a link that Python itself follows. */
const libraries = "lib/python/site-packages";
const pythons = ["/usr/bin/python3", "/usr/local/bin/python3"];

const Report = z.object({
  install: z.array(
    z.object({
      metadata: z.object({ name: z.string(), version: z.string() }),
      requested: z.boolean().default(false),
      download_info: z.object({ archive_info: z.object({ hash: z.string() }).optional() }).optional(),
    }),
  ),
});

export async function fetchFromPypi(fetch: Fetch, recipe: PypiRecipe, wanted: string): Promise<Fetched> {
  const python = await findPython();
  const spec = wanted === "latest" ? recipe.package : `${recipe.package}==${wanted}`;
  const report = join(fetch.scratch, "report.json");
  fetch.onProgress(`Fetching ${spec} with pip`);
  const { code, output } = await runInstaller({
    argv: [python, "-m", "pip", "install", ...pipFlags(fetch, report), "--", spec],
    env: { ...fetch.env, TMPDIR: fetch.scratch },
    cwd: fetch.tree,
    signal: fetch.signal,
    missingHint: noPip,
  });
  if (code !== 0) throw failure(fetch.agent, spec, output);
  const main = Report.parse(JSON.parse(await readFile(report, "utf8"))).install.find(
    ({ requested }) => requested,
  );
  if (!main) throw failure(fetch.agent, spec, "pip did not say what it installed");
  const entryPoint = await findEntryPoint(join(fetch.tree, libraries), recipe.bin);
  if (entryPoint === undefined) throw failure(fetch.agent, spec, `it has no program named "${recipe.bin}"`);
  await makeEnvironment(fetch, python, entryPoint, recipe.bin);
  const hash = main.download_info?.archive_info?.hash.replace("=", "-");
  return { version: main.metadata.version, package: recipe.package, integrity: hash, program: recipe.bin };
}

const noPip = "Install Python 3 with pip from your distribution (Debian: python3-pip).";

const pipFlags = ({ tree }: Fetch, report: string): readonly string[] => [
  "--target",
  join(tree, libraries),
  "--only-binary=:all:",
  "--no-compile",
  "--no-input",
  "--ignore-installed",
  "--disable-pip-version-check",
  "--no-warn-script-location",
  "--report",
  report,
];

/** The file and not a link to it, so that a box never gets another version than the libraries were made for. */
async function findPython(): Promise<string> {
  for (const python of pythons) {
    const real = await realpath(python).catch(() => undefined);
    if (real?.startsWith("/usr/")) return real;
  }
  throw new AgentBoxError("tool.install_failed", "There is no Python 3 below /usr on this host.", {
    hint: noPip,
  });
}

/** `module:function` of a console script. */
async function findEntryPoint(lib: string, bin: string): Promise<string | undefined> {
  for (const name of await readdir(lib)) {
    if (!name.endsWith(".dist-info")) continue;
    const text = await readFile(join(lib, name, "entry_points.txt"), "utf8").catch(() => "");
    const script = text.split("[console_scripts]")[1]?.split("\n[")[0] ?? "";
    for (const line of script.split("\n")) {
      const [left, right] = line.split("=").map((part) => part.trim());
      // SECURITY: it becomes Python code, so only plain names.
      if (left === bin && right !== undefined && /^[\w.]+:[\w.]+$/.test(right)) return right;
    }
  }
  return undefined;
}

/**
 * A virtual environment that can be moved: its Python is a copy, because a link would lead out of the tree. So the
 * agent and what it starts with its own Python find the libraries, and every other Python in the box does not.
 */
async function makeEnvironment(fetch: Fetch, python: string, entryPoint: string, bin: string): Promise<void> {
  const { tree } = fetch;
  const versioned = basename(python);
  if (!/^python3\.\d+$/.test(versioned))
    throw failure(fetch.agent, bin, `${python} does not say its version`);
  await symlink("python", join(tree, "lib", versioned));
  await mkdir(join(tree, "bin"));
  await copyFile(python, join(tree, "bin", "python3"));
  await writeFile(
    join(tree, "pyvenv.cfg"),
    `home = ${dirname(python)}\ninclude-system-site-packages = false\n`,
  );
  // pip's own starters name the wrong Python.
  await removeTree(join(tree, libraries, "bin"));
  const [module, name] = entryPoint.split(":") as [string, string];
  const code = `import sys; from operator import attrgetter; from importlib import import_module; sys.argv[0] = "${bin}"; sys.exit(attrgetter("${name}")(import_module("${module}"))())`;
  const text = `#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/bin/python3" -I -c '${code}' "$@"\n`;
  await writeFile(join(tree, bin), text);
  await chmod(join(tree, bin), 0o755);
  await compile(fetch, python);
}

/** Once here, because a box cannot write beside the sources and would compile thousands of files at every start. */
async function compile({ tree, env, signal, onProgress }: Fetch, python: string): Promise<void> {
  onProgress("Compiling its Python files");
  const flags = ["-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s", tree];
  // Test data of packages may hold files that are no Python; they are left as they are.
  await runInstaller({
    argv: [python, "-I", "-m", "compileall", ...flags, join(tree, libraries)],
    env,
    cwd: tree,
    signal,
    missingHint: noPip,
  });
}

function failure(agent: string, spec: string, output: string): AgentBoxError {
  const lines = output.split("\n");
  const errors = lines.filter((line) => line.startsWith("ERROR:")).map((line) => line.slice("ERROR:".length));
  const reason = lastWords(errors.length > 0 ? errors : lines);
  const isPipMissing = /No module named pip\b/.test(output);
  return new AgentBoxError("tool.install_failed", `pip could not install ${spec}: ${reason}`, {
    hint: isPipMissing
      ? noPip
      : "See whether pip can reach its index, and whether the package has wheels for it.",
    facts: { agent, package: spec },
  });
}
