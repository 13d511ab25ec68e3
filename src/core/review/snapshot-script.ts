/**
 * What runs in the box to get its work out: one commit of everything that is not ignored, as a bundle on stdout. A
 * constant; what varies is an argument. It runs as the box's own user, with the box's own git and config, in the box.
 */
import { boxPaths } from "../../contract/box.ts";

export const unchangedExit = 3;
/** The workspace has no repository any more, or git is not there. */
export const unusableExit = 4;

const ownRepository = `${boxPaths.home}/.agentbox/work.git`;

/** $1: "git" or "plain". $2: tree of the last checkpoint. $3: its head. Then what the host has already. */
const script = `
mode=$1; last_tree=$2; last_head=$3; shift 3
cd ${boxPaths.workspace} || exit ${unusableExit}
command -v git >/dev/null || exit ${unusableExit}
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
# Hooks of the repository could refuse this, or take it for something a person does.
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null
export GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false
if [ "$mode" = plain ]; then
  [ -f ${ownRepository}/HEAD ] || git init -q --bare ${ownRepository} || exit ${unusableExit}
  export GIT_DIR=${ownRepository} GIT_WORK_TREE=${boxPaths.workspace}
fi
top=$(git rev-parse --show-toplevel 2>/dev/null) && [ "$top" = ${boxPaths.workspace} ] || exit ${unusableExit}
set -e
index=$(mktemp)
trap 'rm -f "$index" "$index.lock"' EXIT
real=$(git rev-parse --git-path index)
if [ -f "$real" ]; then cp "$real" "$index"; else rm -f "$index"; fi
export GIT_INDEX_FILE=$index
# A repository in the workspace that has no commits cannot be added; everything else is.
git -c advice.addEmbeddedRepo=false -c core.safecrlf=false add -A --ignore-errors -- . 2>/dev/null || [ $? = 1 ]
tree=$(git write-tree)
head=$(git rev-parse -q --verify 'HEAD^{commit}' || true)
if [ "$tree" = "$last_tree" ] && [ "\${head:-$last_head}" = "$last_head" ]; then exit ${unchangedExit}; fi
export GIT_AUTHOR_NAME=agent GIT_AUTHOR_EMAIL=agent@agentbox.internal
export GIT_COMMITTER_NAME=agent GIT_COMMITTER_EMAIL=agent@agentbox.internal
# Never the same commit twice: one that the host has already would leave nothing to send.
commit=$(git -c commit.gpgsign=false commit-tree "$tree" \${head:+-p "$head"} -m "AgentBox checkpoint $(date +%s.%N)")
git update-ref refs/agentbox/snapshot "$commit"
for known in "$@"; do
  if git cat-file -e "$known^{commit}" 2>/dev/null; then set -- "$@" "^$known"; fi
  shift
done
exec git bundle create -q - refs/agentbox/snapshot "$@"
`;

export const snapshotArgv = (options: {
  readonly isRepository: boolean;
  readonly lastTree: string;
  readonly lastHead: string;
  readonly have: readonly string[];
}): string[] => [
  "/bin/sh",
  "-c",
  script,
  "snapshot",
  options.isRepository ? "git" : "plain",
  options.lastTree,
  options.lastHead,
  ...options.have,
];
