/**
 * Packages from npm's registry, fetched by the host's own npm with the person's own configuration. SECURITY: no script
 * of any package runs on the host, even if that configuration asks for it.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import type { InstallRecipe } from "../../contract/agent.ts";
import { runInstaller } from "./installer-process.ts";
import { findNpmProgram } from "./npm-program.ts";
import { type Fetch, type Fetched, lastWords } from "./recipe.ts";

export type NpmRecipe = Extract<InstallRecipe, { kind: "npm" }>;

/** Flags beat files and variables, so a person's own settings cannot break the form of the tree. */
const flags = [
  "--ignore-scripts",
  "--no-save",
  "--package-lock=false",
  "--global=false",
  "--include=optional",
  "--omit=dev",
  "--bin-links=true",
  "--install-strategy=hoisted",
  "--no-audit",
  "--no-fund",
  "--update-notifier=false",
  "--loglevel=error",
] as const;

const LockPackage = z.object({ version: z.string(), integrity: z.string().optional() });
const HiddenLock = z.object({ packages: z.record(z.string(), z.unknown()) });

export async function fetchFromNpm(fetch: Fetch, recipe: NpmRecipe, wanted: string): Promise<Fetched> {
  const spec = `${recipe.package}@${wanted}`;
  fetch.onProgress(`Fetching ${spec} with npm`);
  const { code, output } = await runInstaller({
    argv: ["npm", "install", "--prefix", fetch.tree, ...flags, "--", spec],
    env: fetch.env,
    cwd: fetch.tree,
    signal: fetch.signal,
    missingHint: "Install npm, or put it into the PATH of the daemon and start that again.",
  });
  if (code !== 0) throw failure(fetch.agent, spec, output);
  const { version, integrity } = await takeLock(fetch.tree, recipe.package);
  const program = await findNpmProgram(fetch.tree, recipe);
  return { version, package: recipe.package, integrity, program };
}

/** npm's own record of what it did. It names where things came from, so it goes: content must not depend on that. */
async function takeLock(tree: string, name: string): Promise<z.infer<typeof LockPackage>> {
  const file = join(tree, "node_modules", ".package-lock.json");
  const { packages } = HiddenLock.parse(JSON.parse(await readFile(file, "utf8")));
  await rm(file);
  return LockPackage.parse(packages[`node_modules/${name}`]);
}

function failure(agent: string, spec: string, output: string): AgentBoxError {
  const lines = output
    .split("\n")
    .filter((line) => line.startsWith("npm error"))
    .map((line) => line.slice("npm error".length).trim());
  const kind = lines.find((line) => line.startsWith("code "))?.slice("code ".length);
  const facts = { agent, package: spec, npmCode: kind };
  if (kind === "EBADPLATFORM") {
    return new AgentBoxError(
      "tool.unsupported",
      `${spec} does not run on ${process.platform}-${process.arch}.`,
      {
        hint: "Choose another version, or another agent.",
        facts,
      },
    );
  }
  if (kind === "E404" || kind === "ETARGET") {
    return new AgentBoxError("tool.install_failed", `The registry has no ${spec}.`, {
      hint: "Check the version, and which registry npm uses: npm config get registry",
      facts,
    });
  }
  const reason = lastWords(
    lines.filter((line) => !/^(code|errno|syscall|A complete log)\b/.test(line)).slice(0, 3),
  );
  return new AgentBoxError(
    "tool.install_failed",
    `npm could not install ${spec}: ${reason || "it did not say why"}`,
    {
      hint: "See whether npm can reach its registry: npm ping",
      facts,
    },
  );
}
