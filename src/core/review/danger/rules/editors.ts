import type { PathRule } from "../path-rule.ts";

export const editorRules: readonly PathRule[] = [
  {
    kind: "editor_task",
    globs: [".vscode/**", ".vscode-insiders/**", ".vscode-server/**", "*.code-workspace"],
    what: "VS Code settings",
    effect:
      "tasks, launch commands and paths of tools in them run when the folder is opened or a file is checked",
  },
  {
    kind: "editor_task",
    globs: [".idea/**", ".run/**", "*.iml", "*.ipr", "*.iws"],
    what: "JetBrains project settings",
    effect: "run configurations, file watchers and start-up tasks in them run in the IDE",
  },
  {
    kind: "editor_task",
    globs: [".devcontainer/**", ".devcontainer.json"],
    what: "dev container definition",
    effect: "its commands run, some of them on the host, when the folder is opened in a container",
  },
  {
    kind: "editor_task",
    globs: [".zed/**", ".fleet/**", ".settings/**", ".project", ".classpath", ".vs/**", ".sublime/**"],
    what: "editor project settings",
    effect: "tasks and tools in them run when the project is opened or built in the editor",
  },
  {
    kind: "editor_task",
    globs: [
      "*.sublime-project",
      "*.sublime-build",
      ".gitpod.yml",
      ".gitpod.dockerfile",
      ".lapce/**",
      ".helix/**",
    ],
    what: "editor project settings",
    effect: "tasks and tools in them run when the project is opened or built in the editor",
  },
  {
    kind: "editor_task",
    globs: ["*-gdb.py", "*-gdb.scm", "*-gdb.gdb", ".gdbinit", ".lldbinit"],
    what: "debugger script",
    effect: "the debugger runs it when it starts here, or opens the program of that name",
  },
  {
    kind: "editor_task",
    globs: [
      ".nvim.lua",
      ".nvimrc",
      ".nvim/**",
      ".exrc",
      ".vimrc",
      "_vimrc",
      ".gvimrc",
      ".lvimrc",
      ".vim/**",
      ".dir-locals.el",
      ".dir-locals-2.el",
      ".projectile",
      ".kateproject",
    ],
    what: "editor start-up file",
    effect: "the editor runs it when a file of this directory is opened",
  },
];
