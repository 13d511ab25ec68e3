/**
 * Programs that installers put into the home of a box are found, and kept with it; an installer that needs root says
 * what to do instead.
 */
import { expect, it } from "vitest";
import { emptyBox, type Ground, onEachDaemon, shellInBox } from "../security/attack.ts";

/** Small packages of the test's own, so that nothing is fetched. */
const sources = `
mkdir -p npm/bin py go gem/bin && cd npm
echo '{"name":"said-by-npm","version":"1.0.0","bin":{"said-by-npm":"bin/x"}}' > package.json
printf '#!/bin/sh\\necho npm\\n' > bin/x && chmod +x bin/x && cd ../py
python3 - <<'END'
import zipfile
with zipfile.ZipFile("said_by_pip-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("said_by_pip.py", "def main(): print('pip')\\n")
    info = "said_by_pip-1.0.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: said-by-pip\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "entry_points.txt", "[console_scripts]\\nsaid-by-pip = said_by_pip:main\\n")
    wheel.writestr(info + "RECORD", "")
END
cd ../go && printf 'module example.com/said-by-go\\n\\ngo 1.19\\n' > go.mod
printf 'package main\\n\\nfunc main() { println("go") }\\n' > main.go && cd ../gem
printf '#!/usr/bin/env ruby\\nputs "gem"\\n' > bin/said-by-gem && chmod +x bin/said-by-gem
cat > x.gemspec <<'END'
Gem::Specification.new do |s|
  s.name = "said-by-gem"; s.version = "1.0.0"; s.summary = "x"; s.authors = ["x"]
  s.files = ["bin/said-by-gem"]; s.bindir = "bin"; s.executables = ["said-by-gem"]
end
END
`;

const installers = [
  { name: "npm i -g", install: "npm i -g ./npm", run: "said-by-npm", says: "npm" },
  {
    name: "pip install --user",
    install: "/usr/bin/python3 -m pip install -q --user --no-index py/*.whl",
    run: "said-by-pip",
    says: "pip",
  },
  {
    name: "go install",
    install: "cd go && GOFLAGS=-buildvcs=false GOTOOLCHAIN=local go install .",
    run: "said-by-go 2>&1",
    says: "go",
  },
  {
    name: "gem install --user-install",
    install:
      "cd gem && gem build -q x.gemspec && gem install -q --local --user-install said-by-gem-1.0.0.gem",
    run: "said-by-gem",
    says: "gem",
  },
];

onEachDaemon("installing in a box", (ground: Ground) => {
  it("puts programs into the home, where they are found, also after a restart", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "installs");
    expect((await shellInBox(daemon, box, sources)).stderr).toBe("");
    for (const { name, install, run } of installers) {
      // The control: it is there only because of what was installed.
      expect((await shellInBox(daemon, box, run)).code, name).toBe(127);
      const installed = await shellInBox(daemon, box, install);
      expect({
        name,
        code: installed.code,
        stderr: installed.code === 0 ? "" : installed.stderr + installed.stdout,
      }).toEqual({ name, code: 0, stderr: "" });
    }
    expect((await daemon.cli(["restart", box])).code).toBe(0);
    for (const { name, run, says } of installers)
      expect((await shellInBox(daemon, box, run)).stdout.trim(), name).toBe(says);
  });

  it("lets pipx put a program of an environment of its own there", async ({ skip }) => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "pipx");
    if ((await shellInBox(daemon, box, "command -v pipx")).code !== 0) skip("pipx is not installed");
    expect((await shellInBox(daemon, box, sources)).stderr).toBe("");
    expect((await shellInBox(daemon, box, "said-by-pip")).code).toBe(127);
    const { code, stderr } = await shellInBox(daemon, box, "PIP_NO_INDEX=1 pipx install $PWD/py/*.whl");
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    expect((await shellInBox(daemon, box, "said-by-pip")).stdout).toBe("pip\n");
  });

  it("lets corepack put its programs into the home", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "corepacks");
    const { code, stdout, stderr } = await shellInBox(
      daemon,
      box,
      "corepack enable && command -v yarn && command -v pnpm",
    );
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: "/home/agent/.local/bin/yarn\n/home/agent/.local/bin/pnpm\n",
      stderr: "",
    });
  });

  it("says in one line what to do instead of sudo and apt-get", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "asks-root");
    const said = async (command: string) => {
      const { code, stdout, stderr } = await shellInBox(daemon, box, command);
      expect({ command, failed: code !== 0, stdout, lines: stderr.split("\n").length }).toEqual({
        command,
        failed: true,
        stdout: "",
        lines: 2,
      });
      return stderr;
    };
    for (const command of [
      "apt-get install -y -o a=b jq ripgrep",
      "sudo apt install jq ripgrep",
      "sudo -E apt-get -y install jq ripgrep",
    ])
      expect(await said(command)).toMatch(
        /install it on your machine \(apt-get install jq ripgrep\).*packages = \["jq", "ripgrep"\]/,
      );
    expect(await said("apt-get update")).toContain("cannot change the system of a box");
    expect(await said("sudo make install")).toContain("Run the command without sudo");
    // Programs that only look are the real ones.
    expect((await shellInBox(daemon, box, "apt-get --version")).stdout).toMatch(/^apt /);
  });
});
