import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { BoxLink } from "../../ports/link.ts";
import type { LinkParts, Using } from "../using.ts";
import { closeLink, launchQuietly } from "../boot/start-box.ts";

/**
 * Speaks to a box whether it runs or not. A stopped one is started for it without its agent and its services, and
 * stopped again; its record says stopped all the while, so that a crash in between leaves nothing but a process that
 * the next daemon ends. What may be repeated is done again when the box ends in the middle of it.
 */
export async function withLink<T>(
  core: Using<LinkParts>,
  name: string,
  act: (box: Box, link: BoxLink) => Promise<T>,
  { mayRepeat = false }: { readonly mayRepeat?: boolean } = {},
): Promise<T> {
  const box = await core.getBox(name);
  const live = core.live.get(name)?.link;
  let failure: { readonly error: unknown } | undefined;
  if (box.state.phase === "running" && live) {
    try {
      return await act(box, live);
    } catch (error) {
      if (!mayRepeat) throw error;
      failure = { error };
    }
  }
  if (box.state.phase === "paused") {
    throw new AgentBoxError(
      "box.wrong_phase",
      `The box "${name}" is paused, and cannot be asked for its work.`,
      {
        hint: `Let it go on (agentbox resume ${name}) or stop it, or look at its latest checkpoint.`,
      },
    );
  }
  return core.locked(name, async () => {
    const current = await core.getBox(name);
    const link = core.live.get(name)?.link;
    // An agent that is done takes its box along while a person looks at its work; the work is still there.
    if (failure !== undefined && link === live) throw failure.error;
    if (current.state.phase === "running" && link) return act(current, link);
    if (current.state.phase !== "stopped" && current.state.phase !== "failed") {
      throw new AgentBoxError("box.wrong_phase", `The box "${name}" is ${current.state.phase}.`, {
        hint: "Try again when it has stopped.",
      });
    }
    return actAtRest(core, current, (opened) => act(current, opened));
  });
}

/** The same for a box at rest, by a caller who holds its lock. */
export async function actAtRest<T>(
  core: Using<LinkParts>,
  box: Box,
  act: (link: BoxLink) => Promise<T>,
): Promise<T> {
  try {
    return await act(await launchQuietly(core, box));
  } finally {
    const runtime = await core.ports.runtimes.get(box.spec.runtime);
    await runtime.stop(box.name, { graceMs: 2_000 });
    await closeLink(core, box.name);
  }
}
