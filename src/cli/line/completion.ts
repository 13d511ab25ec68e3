/**
 * Completion for shells. Each hands over the words of the line and shows what comes back, so that all of them know as much
 * as the command table. `:files` as an answer leaves it to the shell.
 */
const ask = "agentbox completion words --";

export const completionScripts = {
  bash: `# bash completion for agentbox; load it with: source <(agentbox completion bash)
_agentbox() {
  local word prefix i current="\${COMP_WORDS[COMP_CWORD]}"
  local -a line=()
  # bash takes a=b apart; here it is one word again, and what comes back lacks what bash has before the last part.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if ((i > 1)) && [[ "$word" == "=" || "\${COMP_WORDS[i - 1]}" == "=" ]]; then line[-1]+="$word"
    else line+=("$word"); fi
  done
  [[ "$current" != "=" ]] || current=""
  prefix="\${line[-1]%"$current"}"
  COMPREPLY=()
  while IFS= read -r word; do
    if [[ "$word" == ":files" ]]; then
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
    fi
    word="\${word%%$'\\t'*}"
    COMPREPLY+=("\${word#"$prefix"}")
  done < <(${ask} "\${line[@]}" 2>/dev/null)
  # One that ends with = wants its value at once.
  [[ \${#COMPREPLY[@]} -eq 1 && "\${COMPREPLY[0]}" == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _agentbox agentbox`,

  zsh: `#compdef agentbox
# zsh completion for agentbox; load it with: source <(agentbox completion zsh)
_agentbox() {
  local -a found names shown
  found=("\${(@f)$(${ask} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$found[1]" ]] || return 1
  if [[ "$found[1]" == ":files" ]]; then _files; return; fi
  names=("\${(@)found%%$'\\t'*}")
  shown=("\${(@)found//$'\\t'/  }")
  compadd -l -d shown -a names
}
compdef _agentbox agentbox`,

  fish: `# fish completion for agentbox; load it with: agentbox completion fish | source
function __agentbox_words
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  test -n "$current"; or set current ""
  set -l found (${ask} $before[2..-1] $current 2>/dev/null)
  if test "$found" = ":files"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end
complete -c agentbox -f -a '(__agentbox_words)'`,
} as const;
