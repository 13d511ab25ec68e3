/** Detects the kind of a project from its files. Runs nothing of it. */
import type { CheckEntry } from "../../manifest/schema.ts";

export interface DetectedProject {
  /** Such as "npm", or "Python with pytest". */
  readonly kinds: readonly string[];
  /** Commands that must pass before work is merged; they bring what they need, because they run in a fresh box. */
  readonly checks: readonly CheckEntry[];
  /** Network presets and hosts from which its tools fetch. */
  readonly presets: readonly string[];
  readonly hosts: readonly string[];
}

/** Names in the directory, and the text of the few files that are asked for; undefined when it cannot be read. */
export interface ProjectFiles {
  readonly names: ReadonlySet<string>;
  readonly text: (name: string) => string | undefined;
}

/** Files whose text decides something. */
export const readNames = [
  "package.json",
  "pyproject.toml",
  "setup.cfg",
  "tox.ini",
  "requirements.txt",
  "requirements-dev.txt",
  "Makefile",
  "makefile",
  "GNUmakefile",
] as const;

interface Found {
  readonly kind: string;
  /** Absent where there are no tests that are known. */
  readonly test?: string | undefined;
  readonly presets?: readonly string[];
  readonly hosts?: readonly string[];
}

export function detectProject(files: ProjectFiles): DetectedProject {
  const found = [findNode, findPython, findGo, findRust, findMaven, findGradle].flatMap(
    (find) => find(files) ?? [],
  );
  const tested = found.filter(({ test }) => test !== undefined);
  const make = findMake(files);
  // The test target of a Makefile usually calls one of the others.
  const all = make !== undefined && tested.length === 0 ? [...found, make] : found;
  const tests = all.filter(({ test }) => test !== undefined);
  return {
    kinds: all.map(({ kind }) => kind),
    checks: tests.map(({ kind, test }) => ({
      name: tests.length === 1 ? "test" : `test-${kind.toLowerCase().split(" ")[0]!}`,
      command: test!,
    })),
    presets: [...new Set(all.flatMap(({ presets = [] }) => presets))],
    hosts: [...new Set(all.flatMap(({ hosts = [] }) => hosts))],
  };
}

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parseJson(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isTable(value) ? value : {};
  } catch {
    return {};
  }
}

/** Its lock file says which package manager; without one it has said nothing, and npm is there. */
const packageManagers = [
  { name: "pnpm", lock: "pnpm-lock.yaml", install: "pnpm install --frozen-lockfile" },
  { name: "yarn", lock: "yarn.lock", install: "yarn install --immutable" },
  { name: "bun", lock: "bun.lock", install: "bun install --frozen-lockfile" },
  { name: "bun", lock: "bun.lockb", install: "bun install --frozen-lockfile" },
  { name: "npm", lock: "package-lock.json", install: "npm ci" },
] as const;

function findNode({ names, text }: ProjectFiles): Found | undefined {
  if (!names.has("package.json")) return undefined;
  const { scripts, packageManager, dependencies, devDependencies } = parseJson(text("package.json"));
  const wanted = typeof packageManager === "string" ? packageManager.split("@")[0] : undefined;
  const manager =
    packageManagers.find(({ name }) => name === wanted) ??
    packageManagers.find(({ lock }) => names.has(lock));
  const { name, install } = manager ?? { name: "npm", install: "npm install" };
  const needsPackages = [dependencies, devDependencies].some(
    (packages) => isTable(packages) && Object.keys(packages).length > 0,
  );
  const script = isTable(scripts) && typeof scripts["test"] === "string" ? scripts["test"] : "";
  // `npm init` writes a test that always fails.
  const hasTest = script.trim() !== "" && !script.includes("no test specified");
  const test = name === "bun" ? "bun run test" : `${name} test`;
  return {
    kind: name,
    presets: ["npm"],
    ...(hasTest ? { test: needsPackages ? `${install} && ${test}` : test } : {}),
  };
}

function findPython({ names, text }: ProjectFiles): Found | undefined {
  const marks = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "pytest.ini"];
  if (!marks.some((name) => names.has(name))) return undefined;
  const texts = ["pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"].map(
    (name) => text(name) ?? "",
  );
  const isPytest =
    names.has("pytest.ini") || names.has("conftest.py") || texts.some((one) => /\bpytest\b/.test(one));
  const hasTests =
    names.has("tests") || names.has("test") || [...names].some((name) => /^test_.*\.py$/.test(name));
  const runner = names.has("uv.lock") ? "uv run " : names.has("poetry.lock") ? "poetry run " : "";
  const install = names.has("uv.lock")
    ? ""
    : names.has("poetry.lock")
      ? "poetry install && "
      : names.has("requirements.txt")
        ? "python3 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt && "
        : "";
  const python = runner === "" ? "python3" : `${runner}python`;
  const kind = isPytest ? "Python with pytest" : hasTests ? "Python with unittest" : "Python";
  const command = isPytest ? "pytest" : hasTests ? "unittest" : undefined;
  return {
    kind,
    presets: ["pip"],
    ...(command === undefined ? {} : { test: `${install}${python} -m ${command}` }),
  };
}

const findGo = ({ names }: ProjectFiles): Found | undefined =>
  names.has("go.mod") ? { kind: "Go", test: "go test ./...", presets: ["go"] } : undefined;

const findRust = ({ names }: ProjectFiles): Found | undefined =>
  names.has("Cargo.toml") ? { kind: "Rust", test: "cargo test", presets: ["cargo"] } : undefined;

const mavenCentral = "repo.maven.apache.org";

const findMaven = ({ names }: ProjectFiles): Found | undefined =>
  names.has("pom.xml")
    ? {
        kind: "Maven",
        test: names.has("mvnw") ? "./mvnw --batch-mode test" : "mvn --batch-mode test",
        hosts: [mavenCentral],
      }
    : undefined;

function findGradle({ names }: ProjectFiles): Found | undefined {
  if (!["build.gradle", "build.gradle.kts", "settings.gradle.kts"].some((name) => names.has(name)))
    return undefined;
  const hasWrapper = names.has("gradlew");
  return {
    kind: "Gradle",
    test: hasWrapper ? "./gradlew test" : "gradle test",
    hosts: [mavenCentral, "plugins.gradle.org", ...(hasWrapper ? ["services.gradle.org"] : [])],
  };
}

function findMake({ names, text }: ProjectFiles): Found | undefined {
  const file = ["GNUmakefile", "makefile", "Makefile"].find((name) => names.has(name));
  if (file === undefined) return undefined;
  const target = ["test", "check"].find((name) =>
    new RegExp(`^${name}\\s*:(?!=)`, "m").test(text(file) ?? ""),
  );
  return { kind: "make", test: target === undefined ? undefined : `make ${target}` };
}
