import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseHostPattern } from "../../contract/network/host-pattern.ts";
import { matchesPath, pathPatternProblem } from "../../contract/network/path-pattern.ts";
import { openPresets } from "./index.ts";
import { servicePresets } from "./service-presets.ts";

let home: string;
let bin: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "agentbox-presets-"));
  bin = join(home, "bin");
  mkdirSync(bin);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A program of this name that answers like the real one; $PWD and the environment are the test's to look at. */
function install(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}
function write(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
}
const presets = (env: NodeJS.ProcessEnv = {}) =>
  openPresets({ HOME: home, PATH: `${bin}:/usr/bin-of-nobody`, ...env }, join(home, "go"));
const hostsOf = async (name: string, env?: NodeJS.ProcessEnv) =>
  (await presets(env).read(name)).rules.map(({ host, ports }) => `${host}:${ports.join()}`);
const refused = (message: RegExp) =>
  expect.objectContaining({ code: "policy.invalid", message: expect.stringMatching(message) });

describe("package managers", () => {
  it("npm: the registry and those of scopes, and no other setting", async () => {
    install(
      "npm",
      `[ "$*" = "config list --json" ] || exit 1
cat <<END
{ "registry": "https://packages.example.org/npm/", "@team:registry": "http://team.example.org:4873/",
  "proxy": "http://proxy.example.org:3128", "//x/:_authToken": "(protected)" }
END`,
    );
    expect(await hostsOf("npm")).toEqual(["packages.example.org:443", "team.example.org:4873"]);
  });

  it("pip: the index its help names, or the configured one, and the extra ones", async () => {
    const pip = (settings: string) =>
      `case "$1" in
install) echo "  -i, --index-url <url>  Base URL of the index (default https://index.example.org/simple). More."
         echo "  --extra-index-url <url>  More (default none)";;
config) cat <<'END'
${settings}
END
esac`;
    install("pip3", pip("global.timeout='60'"));
    expect(await hostsOf("pip")).toEqual(["index.example.org:443"]);
    install(
      "pip3",
      pip(
        "global.index-url='https://ada:s3cret@mirror.example.org/simple'\n:env:.extra-index-url='https://a.example.org/s\\nhttp://b.example.org:8080/s'",
      ),
    );
    expect(await hostsOf("pip")).toEqual([
      "mirror.example.org:443",
      "a.example.org:443",
      "b.example.org:8080",
    ]);
  });

  it("pip: the host of the files, which only a trial run knows, and without it when the index does not answer", async () => {
    const help = `echo "  -i, --index-url <url>  Base URL (default https://index.example.org/simple)."`;
    const pip = (trial: string) => `case "$*" in
*--help*) ${help};;
*--dry-run*) ${trial};;
esac`;
    install(
      "pip3",
      pip(`echo '{"install":[{"download_info":{"url":"https://files.example.org/packages/pip.whl"}}]}'`),
    );
    expect(await hostsOf("pip")).toEqual(["index.example.org:443", "files.example.org:443"]);
    install("pip3", pip("exit 1"));
    expect(await hostsOf("pip")).toEqual(["index.example.org:443"]);
  });

  it("apt: every repository, without those that are no host", async () => {
    install(
      "apt-get",
      `printf 'http://deb.example.org/debian/\\nhttp://deb.example.org/debian/\\ncdrom://x/\\nfile:/srv/apt\\nmirror+https://m.example.org/l\\n'`,
    );
    expect(await hostsOf("apt")).toEqual(["deb.example.org:80", "m.example.org:443"]);
  });

  it("go: proxies and checksum database", async () => {
    install(
      "go",
      `[ "$*" = "env GOPROXY GOSUMDB" ] && [ "$GOTOOLCHAIN" = local ] && printf '%s\\n%s\\n' "$GOPROXY" "$GOSUMDB"`,
    );
    const env = (GOPROXY: string, GOSUMDB: string) => ({ GOPROXY, GOSUMDB });
    expect(
      await hostsOf("go", env("https://p.example.org,https://q.example.org|direct", "sum.example.org")),
    ).toEqual(["p.example.org:443", "q.example.org:443", "sum.example.org:443"]);
    expect(
      await hostsOf("go", env("https://p.example.org", "s.example.org+key https://t.example.org/x")),
    ).toEqual(["p.example.org:443", "t.example.org:443"]);
    await expect(hostsOf("go", env("direct", "off"))).rejects.toEqual(refused(/names no host/));
  });

  it("cargo: configured registries, and the index it has used", async () => {
    install("cargo", "echo cargo 1");
    await expect(hostsOf("cargo")).rejects.toEqual(refused(/has not said/));
    // Offline, its error names the index that is built in; online, the index says where the packages are.
    install(
      "cargo",
      `[ "$1" = --version ] || { echo "failed to download from \\\`https://built.example.org/config.json\\\`" >&2; exit 101; }`,
    );
    expect(await hostsOf("cargo")).toEqual(["built.example.org:443"]);
    install(
      "cargo",
      `[ "$1" = --version ] && exit 0
mkdir -p "$CARGO_HOME/registry/index/built.example.org-0123456789abcdef"
echo '{"dl":"https://files.example.org"}' > "$CARGO_HOME/registry/index/built.example.org-0123456789abcdef/config.json"
exit 101`,
    );
    expect(await hostsOf("cargo")).toEqual(["built.example.org:443", "files.example.org:443"]);
    write(
      ".cargo/registry/index/index.example.org-0123456789abcdef/config.json",
      '{"dl":"https://static.example.org/{crate}","api":"https://example.org"}',
    );
    expect(await hostsOf("cargo")).toEqual(["index.example.org:443", "static.example.org:443"]);
    write(
      ".cargo/config.toml",
      '[registries.team]\nindex = "sparse+https://team.example.org/index/"\n[source.mirror]\nregistry = "https://mirror.example.org/git"\n[net]\nretry = 2\n',
    );
    expect(await hostsOf("cargo")).toEqual([
      "team.example.org:443",
      "mirror.example.org:443",
      "index.example.org:443",
      "static.example.org:443",
    ]);
    write(".cargo/config.toml", "not toml [");
    await expect(hostsOf("cargo")).rejects.toEqual(refused(/not valid TOML/));
  });

  it("SECURITY: cargo is never made to install or build, which would run a package's build script on the host", async () => {
    install("cargo", `echo "$*" >> ${join(home, "asked")}; exit 0`);
    await expect(hostsOf("cargo")).rejects.toEqual(refused(/has not said/));
    const asked = readFileSync(join(home, "asked"), "utf8").trim().split("\n");
    expect(asked).toContain("search --limit 1 agentbox");
    for (const line of asked) expect(line).toMatch(/^(?:--version|search )/);
  });

  it("a tool that is missing, fails or says nothing is an error, not a guess", async () => {
    for (const name of ["npm", "pip", "apt", "cargo", "go"])
      await expect(hostsOf(name), name).rejects.toEqual(refused(/is not installed on this host/));
    install("npm", "exit 3");
    await expect(hostsOf("npm")).rejects.toEqual(refused(/ended with 3/));
    install("npm", "echo {}");
    await expect(hostsOf("npm")).rejects.toEqual(refused(/names no host/));
    install("npm", "echo nonsense");
    await expect(hostsOf("npm")).rejects.toEqual(refused(/something else/));
  });

  it("a host that no rule can open is said, without the password in its address", async () => {
    install("npm", `echo '{"registry":"http://ada:s3cret@10.0.0.5:4873/"}'`);
    await expect(hostsOf("npm")).rejects.toEqual(refused(/10\.0\.0\.5: it is an address/));
    await expect(hostsOf("npm")).rejects.not.toEqual(refused(/s3cret/));
    install("npm", `echo '{"registry":"https://a.example.org/","@x:registry":"http://localhost:4873/"}'`);
    expect((await presets().read("npm")).unusable).toEqual([expect.stringContaining("localhost")]);
  });

  it("SECURITY: the tool runs in the root directory, and sees settings of the person but nothing else", async () => {
    install(
      "npm",
      `echo "{\\"registry\\":\\"https://x.example.org/$PWD/$npm_config_x$SECRET_TOKEN\\"}" | tee ${join(home, "said")}`,
    );
    await hostsOf("npm", { npm_config_x: "seen", SECRET_TOKEN: "hidden" });
    expect(readFileSync(join(home, "said"), "utf8")).toContain('https://x.example.org///seen"');
  });
});

describe("services", () => {
  it("every list is of usable hosts, methods and paths", () => {
    for (const rule of Object.values(servicePresets).flat()) {
      expect(parseHostPattern(rule.host)).toHaveProperty("pattern");
      expect(rule.paths.map(pathPatternProblem).filter(Boolean)).toEqual([]);
      expect(rule.methods).not.toEqual([]);
    }
  });

  const lets = (preset: string, method: string, host: string, path: string) =>
    servicePresets[preset]!.some(
      (rule) =>
        rule.host === host &&
        rule.methods.includes(method) &&
        (rule.paths.length === 0 || rule.paths.some((pattern) => matchesPath(pattern, path))),
    );

  it.each([
    ["github", "github.com", "/ada/app.git"],
    ["gitlab", "gitlab.com", "/group/sub/app.git"],
    ["bitbucket", "bitbucket.org", "/ada/app"],
  ])("%s: reading fetches and does not push, writing does both", (name, host, repository) => {
    for (const preset of [`${name}-read`, `${name}-write`]) {
      expect(lets(preset, "GET", host, `${repository}/info/refs`)).toBe(true);
      expect(lets(preset, "POST", host, `${repository}/git-upload-pack`)).toBe(true);
    }
    expect(lets(`${name}-write`, "POST", host, `${repository}/git-receive-pack`)).toBe(true);
    expect(lets(`${name}-read`, "POST", host, `${repository}/git-receive-pack`)).toBe(false);
  });

  it("reading cannot post to an API", () => {
    expect(lets("github-write", "POST", "api.github.com", "/gists")).toBe(true);
    expect(lets("github-read", "GET", "api.github.com", "/gists")).toBe(true);
    for (const path of ["/gists", "/graphql", "/repos/a/b/issues"])
      expect(lets("github-read", "POST", "api.github.com", path)).toBe(false);
    expect(lets("gitlab-read", "POST", "gitlab.com", "/api/v4/projects")).toBe(false);
  });

  it("words that people type for it lead to the same preset", async () => {
    install("npm", `echo '{"registry":"https://packages.example.org/"}'`);
    expect(await hostsOf("node")).toEqual(await hostsOf("npm"));
    expect((await presets().read("github")).rules).toEqual(servicePresets["github-read"]);
    await expect(presets().read("docker")).rejects.toMatchObject({
      hint: expect.stringContaining("[runtime] image"),
    });
  });

  it("an unknown name is refused with those that are known", async () => {
    expect(presets().names).toContain("github-read");
    await expect(presets().read("nmp")).rejects.toMatchObject({
      code: "policy.invalid",
      hint: expect.stringContaining("npm"),
    });
    await expect(presets().read("constructor")).rejects.toMatchObject({ code: "policy.invalid" });
  });
});
