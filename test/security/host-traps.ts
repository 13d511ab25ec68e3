/** Every way known to us in which a repository makes the host run a program, with the git command that falls for it. */

export interface Trap {
  readonly name: string;
  /** Shell, in the repository, that sets it; `touch` is a command that leaves the canary. */
  readonly set: (touch: string) => string;
  /** Shell, in the repository, that a person could run by hand and that springs it. */
  readonly spring: string;
}

const hookNames = [
  "applypatch-msg",
  "pre-applypatch",
  "post-applypatch",
  "pre-commit",
  "pre-merge-commit",
  "prepare-commit-msg",
  "commit-msg",
  "post-commit",
  "pre-rebase",
  "post-checkout",
  "post-merge",
  "pre-push",
  "pre-receive",
  "update",
  "proc-receive",
  "post-receive",
  "post-update",
  "reference-transaction",
  "push-to-checkout",
  "pre-auto-gc",
  "post-rewrite",
  "sendemail-validate",
  "fsmonitor-watchman",
  "post-index-change",
] as const;

const hooksIn = (directory: string, touch: string): string =>
  `mkdir -p ${directory}; for hook in ${hookNames.join(" ")}; do
     printf '#!/bin/sh\\n%s\\n' '${touch}' > ${directory}/$hook; chmod 755 ${directory}/$hook; done`;

/** A setting that names a program; attributes, where needed, choose it for every file. */
const setting =
  (key: string, value: (touch: string) => string, attribute?: string): Trap["set"] =>
  (touch) =>
    [
      `git config ${key} '${value(touch)}'`,
      ...(attribute === undefined ? [] : [`echo '${attribute}' >> .gitattributes`]),
    ].join("; ");

const bothSidesChange = `git checkout -q -b ours; echo ours > victim; git add -A; git commit -qm ours
  git checkout -q -b theirs HEAD~1; echo theirs > victim; git add -A; git commit -qm theirs; git merge ours`;

export const traps: readonly Trap[] = [
  { name: "hooks", set: (touch) => hooksIn(".git/hooks", touch), spring: "git commit -q --allow-empty -m x" },
  {
    name: "hooks elsewhere",
    set: (touch) => `${hooksIn(".traps", touch)}; git config core.hooksPath .traps`,
    spring: "git commit -q --allow-empty -m x",
  },
  { name: "fsmonitor", set: setting("core.fsmonitor", (touch) => `${touch}; false`), spring: "git status" },
  {
    name: "ssh command",
    set: setting("core.sshCommand", (touch) => `${touch}; false`),
    spring: "git ls-remote ssh://host.invalid/x",
  },
  {
    name: "clean filter",
    set: setting("filter.trap.clean", (touch) => `${touch}; cat`, "* filter=trap"),
    spring: "echo changed > victim; git add victim",
  },
  {
    name: "smudge filter",
    set: setting("filter.trap.smudge", (touch) => `${touch}; cat`, "* filter=trap"),
    spring: "rm victim; git checkout victim",
  },
  {
    name: "process filter",
    set: setting("filter.process.process", (touch) => `${touch}; false`, "*.proc filter=process"),
    spring: "echo x > a.proc; git add a.proc",
  },
  {
    name: "textconv",
    set: setting("diff.text.textconv", (touch) => `${touch}; cat`, "*.text diff=text"),
    spring: "echo x > a.text; git add -N a.text; git diff",
  },
  {
    name: "diff driver",
    set: setting("diff.trap.command", (touch) => `${touch}; true`, "* diff=trap"),
    spring: "echo changed > victim; git diff",
  },
  {
    name: "external diff",
    set: setting("diff.external", (touch) => `${touch}; true`),
    spring: "echo changed > victim; git diff",
  },
  {
    name: "merge driver",
    set: setting("merge.trap.driver", (touch) => `${touch}; true`, "* merge=trap"),
    spring: `git add -A; git commit -qm attributes; ${bothSidesChange}`,
  },
  {
    name: "signing program",
    set: (touch) =>
      `printf '#!/bin/sh\\n%s\\n' '${touch}' > .git/sign; chmod 755 .git/sign
       git config gpg.program "$PWD/.git/sign"; git config gpg.ssh.program "$PWD/.git/sign"; git config user.signingKey x; git config commit.gpgSign true`,
    spring: "git commit -q --allow-empty -m x",
  },
  { name: "alias", set: setting("alias.st", (touch) => `!${touch}`), spring: "git st" },
  {
    name: "credential helper",
    set: setting("credential.helper", (touch) => `!${touch}; true`),
    spring: "printf 'protocol=https\\nhost=host.invalid\\n\\n' | GIT_ASKPASS=true git credential fill",
  },
  {
    name: "editor",
    set: setting("core.editor", (touch) => `${touch}; true`),
    spring: "git commit --allow-empty",
  },
  {
    name: "trailer command",
    set: (touch) =>
      `for key in agentbox-box agentbox-agent; do git config trailer.$key.key "$key"; git config trailer.$key.command '${touch}'; git config trailer.$key.cmd '${touch}'; git config trailer.$key.ifmissing add; done`,
    spring: "echo x | git interpret-trailers --trailer agentbox-box=x",
  },
  {
    name: "upload pack",
    set: setting("remote.origin.uploadpack", (touch) => `${touch}; false`),
    spring: "git config remote.origin.url .; git fetch origin",
  },
  {
    name: "external transport",
    set: (touch) =>
      `git config protocol.ext.allow always; git config remote.ext.url 'ext::${touch}'; git config remote.ext.fetch '+refs/*:refs/x/*'`,
    spring: "git fetch ext",
  },
  {
    name: "submodule",
    set: (touch) =>
      `git config protocol.ext.allow always
       printf '[submodule "sub"]\\n\\tpath = sub\\n\\turl = ext::%s\\n\\tupdate = checkout\\n' '${touch}' > .gitmodules
       git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub`,
    spring: "git -c protocol.ext.allow=always submodule update --init",
  },
  {
    name: "included config",
    set: (touch) =>
      `printf '[core]\\n\\tfsmonitor = "%s; false"\\n' '${touch}' > .trap-config; git config include.path ../.trap-config`,
    spring: "git status",
  },
];

/** Files that other programs of the host would run; AgentBox shows them, and touches none. */
export const plantedFiles = (touch: string): string => `
  mkdir -p .vscode .idea .claude .husky .devcontainer .github/workflows
  echo '${touch}' > .envrc; echo '${touch}' > .husky/pre-commit; chmod 755 .husky/pre-commit
  printf '{"version":"2.0.0","tasks":[{"label":"x","command":"%s","runOptions":{"runOn":"folderOpen"}}]}' '${touch}' > .vscode/tasks.json
  printf '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"%s"}]}]}}' '${touch}' > .claude/settings.json
  printf '{"scripts":{"preinstall":"%s","prepare":"%s"}}' '${touch}' '${touch}' > package.json
  printf 'all:\\n\\t%s\\n' '${touch}' > Makefile
  printf '{"postCreateCommand":"%s"}' '${touch}' > .devcontainer/devcontainer.json`;
