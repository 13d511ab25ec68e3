/** The packages and repositories that the test's internet offers: one small thing for each. */
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./program.ts";

async function must(argv: readonly string[], cwd?: string): Promise<string> {
  const { code, stdout, stderr } = await runProgram(argv, cwd === undefined ? {} : { cwd });
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}

const siteOf = (directory: string, host: string): string => {
  const site = join(directory, "sites", host);
  mkdirSync(site, { recursive: true });
  return site;
};

/** A repository at https://git.test/repo.git with one file, `hello`. Returns its path. */
export async function makeGitSite(directory: string): Promise<string> {
  const work = join(directory, "git-work");
  const bare = join(siteOf(directory, "git.test"), "repo.git");
  await must(["git", "init", "--quiet", "-b", "main", work]);
  writeFileSync(join(work, "hello"), "hello from the internet\n");
  const person = ["-c", "user.name=Test", "-c", "user.email=test@api.test"];
  await must(["git", "-C", work, "add", "hello"]);
  await must(["git", "-C", work, ...person, "commit", "--quiet", "-m", "Hello"]);
  await must(["git", "clone", "--quiet", "--bare", work, bare]);
  return bare;
}

/** The same at https://code.test/repo.git, where a holder of the credential may push. Returns its path. */
export async function makeCodeSite(directory: string): Promise<string> {
  const bare = join(siteOf(directory, "code.test"), "repo.git");
  await must(["git", "clone", "--quiet", "--bare", await makeGitSite(directory), bare]);
  await must(["git", "--git-dir", bare, "config", "http.receivepack", "true"]);
  return bare;
}

/** A registry at https://npm.test/files/ with the package `hello-test`. */
export async function makeNpmSite(directory: string): Promise<void> {
  const site = siteOf(directory, "npm.test");
  const work = join(directory, "npm-work");
  mkdirSync(join(work, "package"), { recursive: true });
  writeFileSync(
    join(work, "package/package.json"),
    '{"name":"hello-test","version":"1.0.0","main":"index.js"}',
  );
  writeFileSync(join(work, "package/index.js"), 'module.exports = "hello from the internet";\n');
  await must(["tar", "-czf", join(site, "hello-test-1.0.0.tgz"), "-C", work, "package"]);
  const version = {
    name: "hello-test",
    version: "1.0.0",
    dist: { tarball: "https://npm.test/files/hello-test-1.0.0.tgz" },
  };
  const index = { name: "hello-test", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } };
  writeFileSync(join(site, "hello-test"), JSON.stringify(index));
}

/** A simple index at https://pip.test/files/simple/ with the wheel `hello_test`. */
export async function makePipSite(directory: string): Promise<void> {
  const site = siteOf(directory, "pip.test");
  const wheel = "hello_test-1.0.0-py3-none-any.whl";
  mkdirSync(join(site, "simple/hello-test"), { recursive: true });
  writeFileSync(
    join(site, "simple/hello-test/index.html"),
    `<html><body><a href="/files/${wheel}">${wheel}</a></body></html>`,
  );
  const pack = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
  wheel.writestr("hello_test.py", "text = 'hello from the internet'\\n")
  wheel.writestr("hello_test-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: hello-test\\nVersion: 1.0.0\\n")
  wheel.writestr("hello_test-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
  wheel.writestr("hello_test-1.0.0.dist-info/RECORD", "")
`;
  await must(["python3", "-c", pack, join(site, wheel)]);
}

/** A flat repository at http://apt.test/files/ with the package `hello-test`. */
export async function makeAptSite(directory: string): Promise<void> {
  const site = siteOf(directory, "apt.test");
  const work = join(directory, "apt-work");
  mkdirSync(join(work, "DEBIAN"), { recursive: true });
  chmodSync(work, 0o755);
  chmodSync(join(work, "DEBIAN"), 0o755);
  const control =
    "Package: hello-test\nVersion: 1.0.0\nArchitecture: all\nMaintainer: Test <test@api.test>\nDescription: hello\n";
  writeFileSync(join(work, "DEBIAN/control"), control);
  await must(["dpkg-deb", "--build", work, join(directory, "hello-test_1.0.0_all.deb")]);
  const file = "hello-test_1.0.0_all.deb";
  cpSync(join(directory, file), join(site, file));
  const [sum = ""] = (await must(["sha256sum", join(site, file)])).split(" ");
  const size = (await must(["stat", "-c", "%s", join(site, file)])).trim();
  writeFileSync(
    join(site, "Packages"),
    `${control.trimEnd()}\nFilename: ./${file}\nSize: ${size}\nSHA256: ${sum}\n\n`,
  );
}

/** A module proxy at https://api.test/files with the module `hello.test/m`. */
export async function makeGoSite(directory: string): Promise<void> {
  const versions = join(siteOf(directory, "api.test"), "hello.test/m/@v");
  mkdirSync(versions, { recursive: true });
  writeFileSync(join(versions, "list"), "v1.0.0\n");
  writeFileSync(join(versions, "v1.0.0.info"), '{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}');
  writeFileSync(join(versions, "v1.0.0.mod"), "module hello.test/m\n");
}

/** A registry at https://api.test/files/ whose search finds one crate. */
export function makeCargoSite(directory: string): void {
  const site = siteOf(directory, "api.test");
  mkdirSync(join(site, "api/v1"), { recursive: true });
  const base = "https://api.test/files";
  writeFileSync(join(site, "config.json"), JSON.stringify({ dl: base, api: base }));
  const crate = { name: "hello-test", max_version: "1.0.0", description: "hello from the internet" };
  writeFileSync(join(site, "api/v1/crates"), JSON.stringify({ crates: [crate], meta: { total: 1 } }));
}
