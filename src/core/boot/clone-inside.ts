import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { type Box, boxPaths } from "../../contract/box.ts";
import type { BoxLink } from "../../ports/link.ts";
import { execInBox, lastLine } from "../exec/exec-in-box.ts";

const timeoutMs = 30 * 60_000;

/**
 * Constant; the address is an argument. A box that was stopped half-way begins again; one that was made from a
 * checkpoint has all of it already.
 */
const script = `
cd ${boxPaths.workspace} || exit
if GIT_DIR=.git git rev-parse -q --verify refs/agentbox/restored >/dev/null 2>&1; then exit 0; fi
find . -mindepth 1 -delete && exec git clone --quiet --no-hardlinks -- "$1" .
`;

/** Git in the box fetches the repository, so that its host is judged by the box's policy like any other. */
export async function cloneInside({ name }: Box, link: BoxLink, url: string): Promise<void> {
  const argv = ["/bin/sh", "-c", script, "clone", url];
  const { code, output } = await execInBox(link, { argv, env: { GIT_TERMINAL_PROMPT: "0" }, timeoutMs });
  if (code === 0) return;
  const why = printable(lastLine(output)).slice(0, 300);
  throw new AgentBoxError(
    "workspace.failed",
    `${url} could not be cloned in the box: ${why || "git gave no reason"}.`,
    {
      hint: `See what was refused: agentbox events --box ${name} --type egress.denied; allow the host with --allow HOST.`,
    },
  );
}
