import { AgentBoxError } from "../base/errors.ts";
import { printable } from "../base/printable.ts";
import { type Box, boxPaths } from "../contract/box.ts";
import type { BoxLink } from "../ports/link.ts";

const timeoutMs = 30 * 60_000;

/** Constant; the address is an argument. A box that was stopped half-way begins again. */
const script = `
cd ${boxPaths.workspace} && find . -mindepth 1 -delete && exec git clone --quiet --no-hardlinks -- "$1" .
`;

/** Git in the box fetches the repository, so that its host is judged by the box's policy like any other. */
export async function cloneInside({ name }: Box, link: BoxLink, url: string): Promise<void> {
  const argv = ["/bin/sh", "-c", script, "clone", url];
  const stream = await link.open({ kind: "exec", argv, env: { GIT_TERMINAL_PROMPT: "0" }, timeoutMs });
  stream.endInput();
  let said = "";
  let exitCode: number | null = null;
  stream.onMessage((message) => {
    if (message.type === "exit") exitCode = message.code;
  });
  stream.onData((chunk) => {
    if (said.length < 4_000) said += new TextDecoder().decode(chunk);
  });
  await new Promise<void>((resolve) => stream.onClose(() => resolve()));
  if (exitCode === 0) return;
  const why = printable(said.trim().split("\n").at(-1) ?? "").slice(0, 300);
  throw new AgentBoxError(
    "workspace.failed",
    `${url} could not be cloned in the box: ${why || "git gave no reason"}.`,
    {
      hint: `See what was refused: agentbox events --box ${name} --type egress.denied; allow the host with --allow HOST.`,
    },
  );
}
