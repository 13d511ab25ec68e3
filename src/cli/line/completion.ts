/** Completion scripts, generated from the command table. Box names are asked for when they are needed. */
import { commonFlags } from "./arguments.ts";
import type { CommandSpec } from "../command.ts";

const boxNames = `agentbox ls --json 2>/dev/null | sed -n 's/^      "name": "\\(.*\\)",$/\\1/p'`;

const flagsOf = (command: CommandSpec): readonly string[] =>
  Object.keys({ ...command.flags, ...commonFlags }).map((name) => `--${name}`);

const wordsOf = ({ completes }: CommandSpec): string => (Array.isArray(completes) ? completes.join(" ") : "");

const isFor = (kind: CommandSpec["completes"]) => (command: CommandSpec) => command.completes === kind;

/** Commands with a verb first, such as `policy show`, whose next word is a box. */
const verbsWithBoxes = (commands: readonly CommandSpec[]): readonly string[] =>
  commands.filter((command) => command.completesNext === "box").map(({ name }) => name);

export function bashCompletion(commands: readonly CommandSpec[]): string {
  const cases = commands.map(
    (command) => `    ${command.name}) flags="${flagsOf(command).join(" ")}"; words="${wordsOf(command)}" ;;`,
  );
  const withBoxes = commands.filter(isFor("box")).map(({ name }) => name);
  return `# bash completion for agentbox; load it with: source <(agentbox completion bash)
_agentbox() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" flags="" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$current"))
    return
  fi
  case "$command" in
${cases.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")); return ;;
  esac
  case "$command" in
    ${withBoxes.join("|")}) words="$(${boxNames})" ;;
    run|create) words="shell demo" ;;
    ${verbsWithBoxes(commands).join("|")}) [ "$COMP_CWORD" -eq 2 ] || words="$(${boxNames})" ;;
  esac
  [ "\${COMP_WORDS[COMP_CWORD - 1]}" != --box ] || words="$(${boxNames})"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _agentbox agentbox`;
}

const quoteZsh = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(":", "\\:");

export function zshCompletion(commands: readonly CommandSpec[]): string {
  const names = commands.map(({ name, summary }) => `    '${name}:${quoteZsh(summary)}'`);
  const cases = commands.map((command) => {
    const words = wordsOf(command);
    const arg = command.completes === "box" ? "boxes" : words ? "words" : "files";
    return `    ${command.name}) flags=(${flagsOf(command).join(" ")}); words_=(${words}); kind=${arg} ;;`;
  });
  return `#compdef agentbox
# zsh completion for agentbox; load it with: source <(agentbox completion zsh)
_agentbox() {
  local -a commands flags words_ boxes
  local kind
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then _describe 'command' commands; return; fi
  case "$words[2]" in
${cases.join("\n")}
  esac
  if [[ "$PREFIX" == -* ]]; then compadd -- $flags; return; fi
  case "$words[2]" in
    ${verbsWithBoxes(commands).join("|")}) (( CURRENT == 3 )) || kind=boxes ;;
  esac
  [[ "$words[CURRENT-1]" != --box ]] || kind=boxes
  case $kind in
    boxes) boxes=(\${(f)"$(${boxNames})"}); compadd -- $boxes ;;
    words) compadd -- $words_ ;;
    *) _files ;;
  esac
}
compdef _agentbox agentbox`;
}

const quoteFish = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");

export function fishCompletion(commands: readonly CommandSpec[]): string {
  const lines = commands.flatMap((command) => [
    `complete -c agentbox -n __fish_use_subcommand -f -a ${command.name} -d '${quoteFish(command.summary)}'`,
    ...Object.entries({ ...command.flags, ...commonFlags }).map(
      ([name, flag]) =>
        `complete -c agentbox -n '__fish_seen_subcommand_from ${command.name}' -l ${name}${flag.short ? ` -s ${flag.short}` : ""}${flag.type === "switch" ? "" : " -r"} -d '${quoteFish(flag.summary)}'`,
    ),
    ...(Array.isArray(command.completes)
      ? [`complete -c agentbox -n '__fish_seen_subcommand_from ${command.name}' -f -a '${wordsOf(command)}'`]
      : []),
  ]);
  const withBoxes = [...commands.filter(isFor("box")).map(({ name }) => name), ...verbsWithBoxes(commands)];
  return [
    "# fish completion for agentbox",
    `function __agentbox_boxes; ${boxNames}; end`,
    ...lines,
    `complete -c agentbox -n '__fish_seen_subcommand_from ${withBoxes.join(" ")}' -f -a '(__agentbox_boxes)'`,
  ].join("\n");
}
