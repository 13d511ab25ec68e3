import type { StartSession } from "../../contract/api/schemas.ts";
import type { SessionStatus } from "../../contract/link/messages.ts";
import { getAgent } from "../agents/get-agent.ts";
import { planCommand } from "../agents/plan-run.ts";
import type { OutputParts, Using } from "../using.ts";
import { recordOutput } from "./record-output.ts";
import { getLink } from "./run-in-box.ts";

/** Starts a session that outlives its viewers; the box keeps running when it ends. */
export async function startSession(
  core: Using<OutputParts | "getBox" | "note">,
  name: string,
  { session, spec }: StartSession,
): Promise<SessionStatus> {
  const { box, link } = await getLink(core, name);
  await core.ports.logs.addSource(name, session);
  core.live.get(name)?.sources.add(session);
  const started = await link.startSession(
    session,
    planCommand(getAgent(core, box.spec.agent.name), box.spec, spec),
  );
  await core.note("session.started", box, { session, argv: started.argv.slice(0, 32) });
  recordOutput(core, box, session);
  return started;
}
