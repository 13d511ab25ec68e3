import { AgentBoxError } from "../../base/errors.ts";
import type { Client } from "../../client/index.ts";
import type { Box } from "../../contract/box.ts";
import type { HostEnv } from "../../host/env.ts";
import { parsePort } from "../boxes/port-number.ts";
import type { RunCommand } from "../command.ts";
import { showError } from "../render/error.ts";
import { type Forward, type OpenForward, openForward } from "../terminal/forward-port.ts";

/** Until the person ends it, or the box does. */
export const run: RunCommand = async ({ args, env, screen, connect }) => {
  const [name = "", ...pairs] = args.positionals;
  const forwards = pairs.map((pair) => parseForward(pair, name));
  const client = await connect();
  const { lastId } = await client.listEvents({ limit: 1, order: "newest" });
  const { box } = await client.getBox(name);
  if (box.state.phase !== "running") throw notRunning(name);
  const ended = interrupted();
  const opened: OpenForward[] = [];
  try {
    for (const forward of forwards) {
      const onFailure = (error: AgentBoxError) => showError(screen, error);
      const open = await openForward(client, name, forward, { users: ownUsers(env), onFailure });
      opened.push(open);
      const { port, local } = open;
      if (screen.isJson) screen.printJsonLine({ box: name, port, local });
      else screen.print(`127.0.0.1:${local} is port ${port} of ${name}`);
    }
    if (!screen.isJson) screen.note(screen.errorStyle.dim("End with ctrl-c."));
    const warning = pageWarning(box);
    if (warning !== undefined) screen.note(screen.errorStyle.yellow(warning));
    await Promise.race([ended, boxEnded(client, box, lastId)]);
    return 0;
  } finally {
    for (const open of opened) await open[Symbol.asyncDispose]();
  }
};

/** The person, also where sudo made them root. */
const ownUsers = ({ uid, sudoUid }: HostEnv): ReadonlySet<number> =>
  new Set([uid, sudoUid].filter((user) => user !== undefined && user >= 0) as number[]);

/** `3000` or `3000:8080`, where the second is the port here; 0 for any that is free. */
export function parseForward(text: string, box: string): Forward {
  const [, inBox = text, here] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  const port = parsePort(inBox, box);
  if (here === undefined) return { port, local: port };
  return { port, local: here === "0" ? 0 : parsePort(here, box) };
}

/** SECURITY: a page over a forwarded port has the browser's whole network, and no yes of the owner to a list is asked for. */
export const pageWarning = ({ name, spec }: Pick<Box, "name" | "spec">): string | undefined =>
  spec.secrets.length === 0
    ? undefined
    : `${name} has secrets. Open no page of it here: it could send out what the box knows. For pages: agentbox preview ${name}`;

const interrupted = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });

const notRunning = (name: string): AgentBoxError =>
  new AgentBoxError("box.wrong_phase", `${name} is not running, so nothing listens on its ports.`, {
    hint: `Start it: agentbox start ${name}`,
  });

async function boxEnded(client: Client, { name, incarnation }: Box, after: number): Promise<never> {
  for await (const event of client.followEvents({ box: name, after })) {
    const isOver = ["box.stopped", "box.died", "box.failed", "box.removed"].includes(event.type);
    if (isOver && event.incarnation === incarnation) throw notRunning(name);
  }
  throw new AgentBoxError("daemon.unreachable", "The daemon has ended.", {
    hint: "The box goes on. Start the daemon again: agentbox daemon start",
  });
}
