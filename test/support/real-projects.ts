/**
 * Small projects that people use, one for each language, at fixed versions, with the tests that they publish. Their sources
 * come from the registries that each tool is configured for; none of them depends on anything that a box would have to fetch.
 */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ToolchainOffer } from "../../src/contract/toolchain.ts";
import type { TestDaemon } from "./daemon.ts";
import { runProgram } from "./program.ts";

export interface RealProject {
  readonly language: string;
  /** Shell commands that put the sources into the directory they are run in. */
  readonly fetch: string;
  /** The project's own test suite, in that directory. */
  readonly test: string;
  /** Reads how many tests ran from what the suite printed. */
  readonly count: RegExp;
  /** How many there are: a suite that ran nothing must not look like one that passed. */
  readonly tests: number;
  readonly needs: string;
  /** Installs a program of its own into the home of the box, and runs it by its name: it says "installed". */
  readonly install?: string;
}

const junit = "junit-4.12.jar:hamcrest-core-1.3.jar";

export const realProjects: readonly RealProject[] = [
  {
    language: "Node",
    needs: "npm",
    fetch: `echo '{"private":true}' > package.json
      npm install --silent --ignore-scripts --no-audit --no-fund minimist@1.2.8 tape@3.6.1`,
    test: "node node_modules/tape/bin/tape 'node_modules/minimist/test/*.js'",
    count: /^# pass +(\d+)$/m,
    tests: 153,
  },
  {
    language: "Python",
    needs: "pip3",
    fetch: `pip3 download -q --no-deps --no-binary :all: simplejson==3.19.2
      tar xzf simplejson-3.19.2.tar.gz --strip-components=1`,
    test: "PYTHONPATH=. /usr/bin/python3 -m unittest discover -s simplejson/tests -t . 2>&1",
    count: /^Ran (\d+) tests in/m,
    tests: 144,
  },
  {
    language: "Go",
    needs: "go",
    // The cache of modules is read-only.
    fetch: `printf 'module ground\\n\\ngo 1.19\\n' > go.mod
      found=$(go mod download -json github.com/dustin/go-humanize@v1.0.1 | sed -n 's/.*"Dir": "\\(.*\\)",*/\\1/p')
      cp -r "$found/." . && chmod -R u+w .`,
    test: "GOCACHE=$PWD/.cache GOTOOLCHAIN=local go test -vet=off -count=1 -v ./... | grep -c '^--- PASS'",
    count: /^(\d+)$/m,
    tests: 32,
  },
  {
    language: "Rust",
    needs: "cargo",
    fetch: `mkdir -p fetch/src && touch fetch/src/lib.rs && cd fetch
      printf '[package]\\nname = "ground"\\nversion = "0.1.0"\\nedition = "2018"\\n[dependencies]\\nstrsim = "=0.10.0"\\n' > Cargo.toml
      found=$(cargo metadata --format-version 1 --quiet | grep -o '"manifest_path":"[^"]*strsim-0.10.0/Cargo.toml"' | cut -d'"' -f4)
      cd .. && rm -r fetch && cp -r "$(dirname "$found")/." . && rm -f .cargo-ok Cargo.toml.orig`,
    test: "CARGO_TARGET_DIR=$PWD/out cargo test --offline --quiet --lib --tests 2>&1",
    count: /^test result: ok\. (\d+) passed/m,
    tests: 96,
    install: `mkdir -p own/src && cd own && echo 'fn main() { println!("installed"); }' > src/main.rs
      printf '[workspace]\\n[package]\\nname = "of-cargo"\\nversion = "1.0.0"\\nedition = "2018"\\n' > Cargo.toml
      cargo install --quiet --offline --path . && of-cargo`,
  },
  {
    language: "Java",
    needs: "mvn",
    fetch: `for one in commons-cli:commons-cli:1.4:jar:sources commons-cli:commons-cli:1.4:jar:test-sources junit:junit:4.12 org.hamcrest:hamcrest-core:1.3
      do mvn -q -B dependency:copy -Dartifact=$one -DoutputDirectory=. || exit 1; done
      for one in *sources.jar; do jar xf $one; done; rm *sources.jar`,
    test: `javac -nowarn -d out -cp ${junit} $(find org -name '*.java') 2>/dev/null
      java -cp out:${junit} org.junit.runner.JUnitCore $(find org -name '*Test.java' | sed 's/\\.java$//; s#/#.#g')`,
    count: /^OK \((\d+) tests\)$/m,
    tests: 318,
  },
];

/** Undefined when it is there; otherwise why it could not be had. A registry that does not answer is asked once more. */
export async function fetchProject(project: RealProject, dir: string): Promise<string | undefined> {
  let why = "";
  for (const attempt of ["first", "second"]) {
    const place = join(dir, attempt);
    mkdirSync(place);
    const argv = ["sh", "-ec", project.fetch];
    const { code, stdout, stderr } = await runProgram(argv, { cwd: place, timeoutMs: 300_000 });
    if (code === 0) {
      for (const name of readdirSync(place)) await runProgram(["mv", join(place, name), join(dir, name)]);
      // Also for a box of another user.
      await runProgram(["chmod", "-R", "a+rX", dir]);
      return undefined;
    }
    why = (stderr + stdout).trim().split("\n").slice(-3).join(" ").slice(0, 300);
  }
  return `the sources could not be fetched: ${why}`;
}

/** The number of tests that ran, in all parts of the suite; undefined when it does not say. */
export function testsIn({ count }: RealProject, output: string): number | undefined {
  const found = [...output.matchAll(new RegExp(count.source, "gm"))];
  return found.length === 0 ? undefined : found.reduce((sum, [, number]) => sum + Number(number), 0);
}

/** A running box with a copy of the project, and with the toolchains of the home that it needs. */
export async function makeProjectBox(
  daemon: TestDaemon,
  { language }: RealProject,
  dir: string,
): Promise<string> {
  const name = `real-${language.toLowerCase()}`;
  const { toolchains } = await daemon.json<{ toolchains: ToolchainOffer[] }>(["toolchains"], { cwd: dir });
  if (toolchains.some(({ state }) => state === "offered"))
    await daemon.json(["toolchains", "allow"], { cwd: dir });
  await daemon.client.createBox({ name, projectDir: dir, flags: { workspace: { mode: "copy" } } });
  return name;
}
