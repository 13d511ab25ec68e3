/**
 * The script that runs in the box to get its work out: one commit of everything that is not ignored, as a bundle on
 * stdout. A constant; all variable parts are arguments. It runs as the box's own user, with the box's own git and
 * config, in the box.
 */
import { boxPaths } from "../../contract/box.ts";

export const unchangedExit = 3;
/** The workspace has no repository any more, or git is not there. */
export const unusableExit = 4;

const own = `${boxPaths.home}/.agentbox`;

/** From this many files on they go into one pack: a file for each object takes git ten times as long. */
const manyFiles = 500;

/** More of them make git slow. Without them the next bundle is larger, once. */
const maxPacks = 50;

/** $1: "git" or "plain". $2: tree of the last checkpoint. $3: its head. Then what the host has already. */
const script = `
mode=$1; last_tree=$2; last_head=$3; shift 3
cd ${boxPaths.workspace} || exit ${unusableExit}
command -v git >/dev/null || exit ${unusableExit}
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
# Hooks of the repository could refuse this, or take it for something a person does.
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null
export GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false
# Git takes memory for each file and gives it back, and libc asks the kernel for it each time: half of all the time.
export MALLOC_TOP_PAD_=4194304 MALLOC_TRIM_THRESHOLD_=33554432
if [ "$mode" = plain ]; then
  [ -f ${own}/work.git/HEAD ] || git init -q --bare ${own}/work.git || exit ${unusableExit}
  export GIT_DIR=${own}/work.git GIT_WORK_TREE=${boxPaths.workspace}
fi
top=$(git rev-parse --show-toplevel 2>/dev/null) && [ "$top" = ${boxPaths.workspace} ] || exit ${unusableExit}
real=$(git rev-parse --git-path index)
objects=$(cd "$(git rev-parse --git-path objects)" && pwd) || exit ${unusableExit}
set -e
index=$(mktemp)
# What a failure has left behind (a full disk) must not be in the way of the next checkpoint.
trap 'code=$?; rm -f "$index" "$index.lock"
  if [ $code != 0 ] && [ $code != ${unchangedExit} ]; then rm -rf ${own}/objects; fi' EXIT
# With its time: git reads a file again that is as young as its index, and a younger copy would hide a quick change.
if [ -f "$real" ]; then cp -p "$real" "$index"; else rm -f "$index"; fi
# The agent's own repository stays as it is: objects it does not have lie beside it.
if [ "$(ls ${own}/objects/pack 2>/dev/null | grep -c 'pack$')" -gt ${maxPacks} ]; then rm -rf ${own}/objects; fi
mkdir -p ${own}/objects/info ${own}/objects/pack
printf '%s\\n' "$objects" > ${own}/objects/info/alternates
export GIT_INDEX_FILE=$index GIT_OBJECT_DIRECTORY=${own}/objects
# A file beyond this size goes into a pack in pieces, unless it has to be converted; it is never whole in memory.
alone=32m
new=$({ git ls-files -z --others --exclude-standard; git diff-files -z --name-only --ignore-submodules=all; } 2>/dev/null |
  tr -cd '\\0' | wc -c)
if [ "$new" -ge ${manyFiles} ]; then alone=0; fi
# A repository in the workspace that has no commits cannot be added; everything else is.
git -c advice.addEmbeddedRepo=false -c core.safecrlf=false -c core.bigFileThreshold=$alone -c pack.compression=1 \\
  add -A --ignore-errors -- . 2>/dev/null || [ $? = 1 ]
tree=$(git write-tree)
head=$(git rev-parse -q --verify 'HEAD^{commit}' || true)
if [ "$tree" = "$last_tree" ] && [ "\${head:-$last_head}" = "$last_head" ]; then exit ${unchangedExit}; fi
export GIT_AUTHOR_NAME=agent GIT_AUTHOR_EMAIL=agent@agentbox.internal
export GIT_COMMITTER_NAME=agent GIT_COMMITTER_EMAIL=agent@agentbox.internal
# Never the same commit twice: one that the host has already would leave nothing to send.
commit=$(git -c commit.gpgsign=false commit-tree "$tree" \${head:+-p "$head"} -m "AgentBox checkpoint $(date +%s.%N)")
# A bundle is a few lines before a pack; git would want a reference for it, in the agent's repository.
if [ \${#commit} = 64 ]; then printf '# v3 git bundle\\n@object-format=sha256\\n'; else printf '# v2 git bundle\\n'; fi
printf '%s refs/agentbox/snapshot\\n\\n' "$commit"
# "Shallow" leaves out what any of the known commits holds; otherwise only those that this one descends from count.
{
  echo "$commit"
  printf '%s^{commit}\\n' "$@" | git cat-file --batch-check='%(objecttype) %(objectname)' | sed -n 's/^commit /^/p'
} | git -c core.bigFileThreshold=32m pack-objects -q --revs --thin --shallow --stdout --delta-base-offset
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
