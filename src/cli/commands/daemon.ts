import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { formatDuration } from "../../base/duration.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import { homePaths } from "../../host/home.ts";
import { isAlive } from "../../host/processes.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { findDaemon } from "../daemon/connect.ts";
import { withProgress } from "../render/progress.ts";
import { plural } from "../render/table.ts";
import { showLog } from "../terminal/show-log.ts";

const goneWithinMs = 30_000;

export const run: RunCommand = async (context) => {
  const verb = context.args.positionals[0]!;
  const action = Object.hasOwn(actions, verb) ? actions[verb as keyof typeof actions] : undefined;
  if (action) return action(context);
  throw new AgentBoxError("command.unknown", `There is no "agentbox daemon ${verb}".`, {
    hint: `Did you mean: agentbox daemon ${suggest(verb, Object.keys(actions)) ?? "status"}`,
  });
};

async function start(context: CommandContext): Promise<number> {
  const wasRunning = (await findDaemon(context.env)) !== undefined;
  const info = await (await context.connect()).getInfo();
  if (context.screen.isJson) context.screen.printJson({ running: true, ...info });
  else
    context.screen.print(
      `The daemon ${wasRunning ? "is already running" : "has started"} (process ${info.pid}).`,
    );
  return 0;
}

async function stop({ screen, env }: CommandContext): Promise<number> {
  const client = await findDaemon(env);
  if (client) {
    const { pid } = await client.getInfo();
    await client.stopDaemon();
    await withProgress(screen, "Stopping the daemon", () => waitUntilGone(pid));
  }
  if (screen.isJson) screen.printJson({ running: false });
  else
    screen.print(client ? "The daemon has stopped. Boxes go on without it." : "The daemon is not running.");
  return 0;
}

async function waitUntilGone(pid: number): Promise<void> {
  const deadline = performance.now() + goneWithinMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) {
      throw new AgentBoxError(
        "request.timed_out",
        `The daemon (process ${pid}) has not ended within ${goneWithinMs / 1_000} s.`,
        {
          hint: `Look at: agentbox daemon logs. It is safe to end it by force: kill -9 ${pid}`,
        },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function status({ screen, env }: CommandContext): Promise<number> {
  const client = await findDaemon(env);
  if (!client) {
    if (screen.isJson) screen.printJson({ running: false });
    else screen.print(`The daemon of ${env.agentboxHome} is not running.`);
    return 3;
  }
  const info = await client.getInfo();
  const uptimeMs = Math.max(0, Date.now() - info.startedAtMs);
  if (screen.isJson) screen.printJson({ running: true, ...info, uptimeMs });
  else {
    screen.print(
      `The daemon runs: process ${info.pid}, version ${info.version}, up ${formatDuration(uptimeMs)}, ${plural(info.boxes, "box", "boxes")}, home ${info.home}`,
    );
  }
  return 0;
}

async function logs({ args, screen, env }: CommandContext): Promise<number> {
  const file = await open(join(homePaths(env.agentboxHome).logs, "daemon.log"), "r").catch(() => undefined);
  if (!file)
    throw new AgentBoxError("file.not_found", "The daemon has no log yet.", {
      hint: "Run: agentbox daemon start",
    });
  await using log = file;
  const tail = args.integer("tail");
  const text = (await log.readFile()).toString();
  const lines = text.split("\n").slice(0, -1);
  const shown = tail === undefined ? lines : tail === 0 ? [] : lines.slice(-tail);
  if (shown.length > 0) screen.print(shown.join("\n"));
  if (args.isSet("follow")) await showLog(screen, follow(log));
  return 0;
}

async function* follow(log: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await log.read(Buffer.alloc(65_536));
    if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
    else await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** `daemon run`, in the foreground, is main's. */
const actions = { start, stop, status, logs } as const;
