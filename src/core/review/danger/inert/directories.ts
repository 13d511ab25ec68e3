/** The meaning of a path's directories for a file in it. All names are folded. */

/** Directories of data that programs of the project open, and tools do not. */
const dataDirectories = new Set(
  [
    "fixtures fixture __fixtures__ testdata test-data test_data __snapshots__ snapshots golden goldens expected",
    "locale locales i18n l10n lang langs translations messages data datasets assets static public images img",
    "icons fonts media samples sample schemas schema",
  ].flatMap((names) => names.split(" ")),
);

/**
 * Directories at the root, or beside a manifest, that hold what the project is built, run and looked after with. Deeper,
 * below the project's own sources, the same names are ordinary modules.
 */
const toolDirectories = new Set(
  [
    "bin sbin script scripts tool tools tooling ci ci_scripts hack build builds buildtools build-tools build_tools",
    "build-logic build_logic config configs conf settings etc dev devtools eng ops infra infrastructure deploy deployment",
    "deployments hooks plugins task tasks cmake m4 project xtask magefiles migrations alembic deps nuke tuist rakelib",
    "site_scons functions netlify library vars roles playbooks inventory group_vars host_vars cookbooks recipes salt",
    "manifests modules jobs workflow workflows generators renv skills commands agents prompts rules dags fastlane triplets",
    "localstack molecule copilot debian rpm snap systemd charts helm k8s kubernetes terraform tf",
    "docker-entrypoint-initdb.d rel _plugins _templates templates nix addons packages.d",
    "packaging installer release automation maintenance webpack rollup vite gulp grunt jest lint linters eslint eslint-rules",
    "codegen build-utils build_utils cdk pulumi mk makefiles certs keys",
  ].flatMap((names) => names.split(" ")),
);

/** Directories that a package manager, an editor or a test runner takes for the top of a project. */
const manifestNames = new Set(
  [
    "package.json deno.json deno.jsonc jsr.json bower.json pyproject.toml setup.py setup.cfg pipfile cargo.toml go.mod",
    "go.work pom.xml build.gradle build.gradle.kts settings.gradle build.sbt project.clj deps.edn composer.json gemfile",
    "gems.rb mix.exs rebar.config gleam.toml shard.yml pubspec.yaml package.swift stack.yaml dune-project project.toml",
    "build.zig dub.json elm.json spago.yaml description global.json package.yaml v.mod info.rkt cpanfile",
  ].flatMap((names) => names.split(" ")),
);
const manifestEndings = /\.(?:csproj|fsproj|vbproj|sln|slnx|gemspec|cabal|opam|nimble|rockspec|podspec|asd)$/;

export const isManifest = (name: string): boolean => manifestNames.has(name) || manifestEndings.test(name);

export const isDataDirectory = (name: string): boolean => dataDirectories.has(name);
export const isToolDirectory = (name: string): boolean => toolDirectories.has(name);
