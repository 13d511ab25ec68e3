/**
 * Runs a project's .envrc in its box, before anything else of the box's own, and takes the variables that it set.
 * SECURITY: only the text that a person has agreed to, and only in the box: the host reads a list of names and values.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Box } from "../../contract/box.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import { isOwn } from "../../manifest/checks/check-env.ts";
import type { BoxLink } from "../../ports/link.ts";
import { execInBox, lastLine } from "../exec/exec-in-box.ts";
import type { Using } from "../using.ts";

const timeoutMs = 60_000;
const maxBytes = 256 * 1024;
const divider = "AGENTBOX-THEN";

/** The words of direnv that are a matter of variables; the others say that they do nothing here. */
const prelude = `
cd ${boxPaths.workspace}
PATH_add() { local p; for p; do PATH="$(realpath -m -- "$p"):$PATH"; done; export PATH; }
path_add() { local v=$1 p; shift; for p; do export "$v=$(realpath -m -- "$p")\${!v:+:\${!v}}"; done; }
has() { command -v "$1" > /dev/null 2>&1; }
source_env() { local f=$1; [ ! -d "$f" ] || f=$f/.envrc; . "$(realpath -- "$f")"; }
source_env_if_exists() { [ ! -e "$1" ] || source_env "$1"; }
dotenv() { set -a; . "$(realpath -- "\${1:-.env}")"; set +a; }
dotenv_if_exists() { [ ! -e "\${1:-.env}" ] || dotenv "$@"; }
env_vars_required() { local v; for v; do [ -n "\${!v-}" ] || { echo "$v is not set" >&2; return 1; }; done; }
log_status() { echo "$*" >&2; }
log_error() { echo "$*" >&2; }
for word in use layout source_up source_up_if_exists watch_file watch_dir direnv_version strict_env; do
  eval "$word() { echo '$word has no effect in a box' >&2; }"
done
unset word
script=$(cat; echo .)
exec 3>&1 >&2
env -0 >&3
printf '${divider}\\0' >&3
set -e
eval "\${script%.}"
env -0 >&3
`;

/** Variables that every shell sets for itself. */
const ofShells = new Set(["_", "SHLVL", "PWD", "OLDPWD"]);

export async function runEnvrc(
  core: Using<"note">,
  box: Box,
  link: BoxLink,
): Promise<Readonly<Record<string, string>>> {
  const { envScript } = box.spec;
  if (envScript === undefined) return {};
  const { path, digest, text } = envScript;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const end = await execInBox(link, {
    argv: ["bash", "--norc", "--noprofile", "-c", prelude],
    timeoutMs,
    // oxlint-disable-next-line require-await -- an input is a stream
    input: (async function* () {
      yield Buffer.from(text);
    })(),
    onStdout: async (chunk) => {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw failed(path, "its variables are larger than 256 KiB");
      chunks.push(Uint8Array.from(chunk));
    },
  });
  if (end.timedOut) throw failed(path, "it did not end within a minute");
  if (end.code !== 0)
    throw failed(path, `it ended with code ${end.code}: ${printable(lastLine(end.output))}`);
  const variables = changedVariables(Buffer.concat(chunks).toString());
  if (variables === undefined) throw failed(path, "it ended its shell");
  await core.note("env.loaded", box, { path, digest, variables: Object.keys(variables).sort() });
  return variables;
}

/** Undefined when the second list is missing. */
function changedVariables(output: string): Record<string, string> | undefined {
  const [before = "", after] = output.split(`${divider}\0`);
  if (after === undefined || after === "") return undefined;
  const old = read(before);
  const changed = [...read(after)].filter(
    ([name, value]) => old.get(name) !== value && !ofShells.has(name) && !isOwn(name),
  );
  return Object.fromEntries(changed);
}

function read(list: string): Map<string, string> {
  return new Map(
    list.split("\0").flatMap((entry): [string, string][] => {
      const at = entry.indexOf("=");
      const name = entry.slice(0, at);
      return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [[name, entry.slice(at + 1)]] : [];
    }),
  );
}

const failed = (path: string, why: string): AgentBoxError =>
  new AgentBoxError("box.start_failed", `${printable(path)} failed in the box: ${why}.`, {
    hint: "Correct it, or take it out of env.files.",
  });
