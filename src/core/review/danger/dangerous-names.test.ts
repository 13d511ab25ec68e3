import { describe, expect, it } from "vitest";
import type { DangerKind } from "../../../contract/review/danger.ts";
import { find, kinds } from "./planted-changes.fixture.ts";

const byName: Readonly<
  Partial<Record<DangerKind, readonly [bad: readonly string[], good: readonly string[]]>>
> = {
  hook: [
    [
      ".husky/pre-commit",
      "sub/.githooks/x",
      "lefthook.yml",
      ".pre-commit-config.yaml",
      "a/hooks/pre-push",
      ".HUSKY/x",
    ],
    ["src/hooks/use-state.ts", "hooks/readme.md", "husky.md", "src/hooks/update-user.ts"],
  ],
  ci: [
    [
      ".github/workflows/ci.yml",
      ".GitHub/Workflows/x.yaml",
      ".gitlab-ci.yml",
      "Jenkinsfile",
      ".circleci/config.yml",
      ".travis.yml",
      "azure-pipelines.yml",
      "bitbucket-pipelines.yml",
      ".buildkite/p.yml",
      ".drone.yml",
      ".woodpecker/a.yml",
      "Earthfile",
      "appveyor.yml",
      ".github/CODEOWNERS",
      ".github/dependabot.yml",
    ],
    [".github/ISSUE_TEMPLATE/bug.md", "docs/workflows/ci.md", "src/jenkinsfile-parser.ts"],
  ],
  editor_task: [
    [
      ".vscode/tasks.json",
      ".vscode/settings.json",
      ".idea/runConfigurations/x.xml",
      "x.code-workspace",
      ".zed/tasks.json",
      ".nvim.lua",
      ".exrc",
      ".devcontainer/devcontainer.json",
      ".vscode./tasks.json",
      ".vs\u200ccode/tasks.json",
    ],
    ["vscode/tasks.json", "src/idea.ts"],
  ],
  shell_rc: [
    [
      ".envrc",
      "deep/er/.envrc",
      ".bashrc",
      ".profile",
      ".zshrc",
      "mise.toml",
      ".tool-versions",
      "Procfile",
      ".env",
    ],
    ["envrc.md", "src/profile.ts", "environment.ts"],
  ],
  agent_settings: [
    [
      ".claude/settings.json",
      "CLAUDE.md",
      "sub/AGENTS.md",
      ".mcp.json",
      ".cursor/rules/x.mdc",
      ".cursorrules",
      ".codex/config.toml",
      ".gemini/settings.json",
      ".qwen/settings.json",
      "opencode.json",
      ".opencode/plugin/x.ts",
      ".aider.conf.yml",
      ".github/copilot-instructions.md",
      ".windsurfrules",
      ".Claude/settings.json",
    ],
    ["docs/claude-notes.md", "src/agents.ts", "claude/x.md"],
  ],
  build_file: [
    [
      "Makefile",
      "x/CMakeLists.txt",
      "build.rs",
      "setup.py",
      "pyproject.toml",
      "conftest.py",
      "build.gradle",
      "pom.xml",
      "Rakefile",
      "justfile",
      "Taskfile.yml",
      "webpack.config.js",
      "vite.config.ts",
      "vitest.config.ts",
      "jest.config.cjs",
      "rollup.config.mjs",
      "node_modules/x/index.js",
      ".yarnrc.yml",
      ".cargo/config.toml",
    ],
    ["src/makefile-parser.ts", "src/build.ts", "docs/setup.md", "src/config.ts"],
  ],
  container_file: [
    ["Dockerfile", "Dockerfile.dev", "app.dockerfile", "docker-compose.yml", "compose.yaml", "Containerfile"],
    ["docs/docker.md", "src/compose.ts"],
  ],
  manifest: [
    ["agentbox.toml", "AgentBox.toml", "agentbox.lock"],
    ["src/agentbox.ts", "docs/agentbox.md"],
  ],
  git_settings: [[".gitconfig", ".lfsconfig"], ["gitconfig.md"]],
  lockfile_source: [[".npmrc", "sub/pip.conf"], ["npmrc.md"]],
  executable: [
    ["setup.exe", "run.BAT", "lib.dylib", "x.desktop", "x.lnk"],
    ["exe.ts", "a.png"],
  ],
  path_trick: [
    [
      ".GIT/config",
      "a/git~1/hooks",
      "a/.git/config",
      "x./y",
      "x /y",
      "con",
      "a/NUL.txt",
      "a\nb",
      "-rf",
      "a\\b",
      "a/../b",
      "x:stream",
      `${"d/".repeat(80)}x`,
      "y".repeat(300),
      `${"long/".repeat(300)}x`,
      ".g\u200cit/config",
      "a\u202eb",
    ],
    [
      "a/b.c",
      ".gitignore",
      "git/x",
      "console.ts",
      "a-b",
      "père/ñ.txt",
      "nul-check.ts",
      "日本語.md",
      "a b.txt",
    ],
  ],
};

describe("dangers by name", () => {
  const cases = Object.entries(byName).flatMap(([kind, [bad, good]]) => [
    ...bad.map((path) => ({ kind, path, is: true })),
    ...good.map((path) => ({ kind, path, is: false })),
  ]);

  it.each(cases)("$kind: $path → $is", async ({ kind, path, is }) => {
    expect((await kinds({ path })).includes(kind as DangerKind)).toBe(is);
  });

  it("says what runs it and when, and whether it is new", async () => {
    const [added] = await find([{ path: ".envrc" }]);
    expect(added).toEqual({
      kind: "shell_rc",
      path: ".envrc",
      why: "New direnv file: direnv runs it when you enter the directory.",
    });
    const [changed] = await find([{ path: ".envrc", old: "a" }]);
    expect(changed!.why).toMatch(/^Changed direnv file/);
  });

  it("a rename into a dangerous place counts, out of one is a removal", async () => {
    const [into] = await find([{ path: ".husky/pre-push", oldPath: "docs/x.txt", kind: "renamed" }]);
    expect(into).toMatchObject({ kind: "hook", why: expect.stringMatching(/^New \(from "docs\/x.txt"\)/) });
    const [out] = await find([{ path: "docs/x.txt", oldPath: ".husky/pre-push", kind: "renamed" }]);
    expect(out).toMatchObject({
      kind: "hook",
      path: ".husky/pre-push",
      why: expect.stringMatching(/^Removed/),
    });
    expect(await find([{ path: "docs/y.txt", oldPath: "docs/x.txt", kind: "renamed" }])).toEqual([]);
  });

  it("a deletion of a hook, of CI or of agent settings is listed as removed", async () => {
    for (const path of [".husky/pre-commit", ".github/workflows/ci.yml", "CLAUDE.md", "CODEOWNERS"]) {
      expect((await find([{ path, kind: "deleted" }]))[0]?.why).toMatch(/^Removed/);
    }
    expect(await find([{ path: "src/a.ts", kind: "deleted" }])).toEqual([]);
  });

  it("two paths that differ by case only, directories too", async () => {
    expect(await find([{ path: "src/a.ts" }, { path: "src/b.ts" }])).toEqual([]);
    for (const pair of [
      ["src/A.ts", "src/a.ts"],
      ["Src/a.ts", "src/b.ts"],
      ["\u00e9.md", "e\u0301.md"],
      ["x.md", "X.md/y.md"],
    ]) {
      const found = await find(pair.map((path) => ({ path })));
      expect(found.map(({ kind }) => kind)).toEqual(["path_trick"]);
    }
    expect(await find([{ path: "src/a.ts" }, { path: "src/A.ts", kind: "deleted" }])).toEqual([]);
  });
});
