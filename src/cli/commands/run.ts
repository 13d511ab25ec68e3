import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { type Client, preloadStreams } from "../../client/index.ts";
import type { AfterMain, CreatedBox } from "../../contract/api/schemas.ts";
import type { Arguments } from "../line/arguments.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { listDeniedHosts } from "../boxes/denied-hosts.ts";
import { createBox, plannedExec } from "../new-box/create-box.ts";
import { exitCodeOf, showError } from "../render/error.ts";
import { showDenied, showEntered, showFull, showKept, showLeft, showWarnings } from "../render/notes.ts";
import { attachSession } from "../terminal/attach-session.ts";
import { findResumable, isEphemeral, runTask } from "./run-agent.ts";
import { commandExitCode } from "../terminal/exit-code.ts";
import { runCommand } from "../terminal/run-command.ts";
import { showLog } from "../terminal/show-log.ts";

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  if (args.isSet("keep") && args.isSet("rm")) {
    throw new AgentBoxError("input.invalid", "Use either --keep or --rm, not both.", {
      hint: "Give one of the two.",
    });
  }
  const client = await context.connect();
  const task = args.text("task");
  if (task !== undefined) return runTask(context, client, task);
  if (args.isSet("resume")) return resume(context, client);
  if (args.isSet("detach")) return detach(context, client);
  const hasArgs = (args.rest?.length ?? 0) > 0;
  return screen.isInteractive && !hasArgs ? interact(context, client) : execute(context, client);
};

/** Back into the terminal of a conversation. */
async function resume(context: CommandContext, client: Client): Promise<number> {
  const { screen } = context;
  const name = await findResumable(context, client);
  const { box } = await client.getBox(name);
  const isOver = box.state.phase === "stopped" || box.state.phase === "failed";
  if (isOver) await client.startRun(name, { mode: "interactive", ...screen.size });
  if (!screen.isInteractive || context.args.isSet("detach")) {
    screen.print(name);
    return 0;
  }
  return watch(context, client, name);
}

/** Left running: nothing is passed on, so failures keep their own exit codes. */
async function detach(context: CommandContext, client: Client): Promise<number> {
  const { screen } = context;
  try {
    const created = await createBox(context, client, {
      start: true,
      ephemeral: isEphemeral(context.args),
      main: { terminal: true, ...screen.size },
      run: { mode: "interactive", ...screen.size },
    });
    if (screen.isJson) screen.printJson(created);
    else {
      screen.print(created.box.name);
      notes(context, created);
    }
    return 0;
  } catch (error) {
    showError(screen, error);
    return exitCodeOf(error, false);
  }
}

/** A person at a terminal: the agent is the box's main session, which they can leave and come back to. */
async function interact(context: CommandContext, client: Client): Promise<number> {
  const { screen } = context;
  const created = await createBox(context, client, {
    start: true,
    ephemeral: isEphemeral(context.args),
    attended: true,
    main: { terminal: true, ...screen.size },
    run: { mode: "interactive", ...screen.size },
  });
  notes(context, created);
  return watch(context, client, created.box.name);
}

async function watch(context: CommandContext, client: Client, box: string): Promise<number> {
  const { args, screen } = context;
  if (!args.isSet("quiet")) showEntered(screen, box);
  try {
    const outcome = await attachSession(client, screen, {
      box,
      session: "main",
      readOnly: false,
      isNew: true,
    });
    if (outcome.kind === "detached") {
      await showLeft(screen, client, box);
      return 0;
    }
    await finish(context, client, box, args);
    return outcome.exitCode;
  } catch (error) {
    // The agent was done before this command could follow it; its output is in the log.
    const isOver = isAgentBoxError(error, "box.wrong_phase") || isAgentBoxError(error, "session.not_found");
    if (!isOver) throw error;
    return await replay(context, client, box);
  }
}

async function replay(context: CommandContext, client: Client, box: string): Promise<number> {
  await showLog(context.screen, await client.getLogs(box, {}));
  const { box: ended } = await client.getBox(box);
  await finish(context, client, box, context.args);
  return ended.state.phase === "stopped" ? (ended.state.exitCode ?? 0) : 0;
}

async function finish(
  { screen }: CommandContext,
  client: Client,
  box: string,
  args: Arguments,
): Promise<void> {
  if (args.isSet("rm")) await client.removeBox(box, { force: true });
  else if (!args.isSet("quiet")) {
    showDenied(screen, await listDeniedHosts(client, box), box);
    showKept(screen, box, "it has ended, its files are there");
  }
}

/** One command with our stdio and its exit code. */
async function execute(context: CommandContext, client: Client): Promise<number> {
  const { args, screen } = context;
  const timeoutMs = args.durationMs("timeout");
  const created = await createBox(context, client, {
    start: true,
    ephemeral: isEphemeral(args),
    exec: true,
    meanwhile: preloadStreams,
  });
  const { name } = created.box;
  notes(context, created);
  const afterMain = fateOf(args);
  const {
    exit,
    isKept,
    deniedHosts = [],
  } = await runCommand(client, name, screen, {
    ...plannedExec(created),
    afterMain,
    wantsTerminal: screen.isInteractive,
    wantsInput: !args.isSet("no-stdin"),
    ...omitUndefined({ timeoutMs }),
  });
  if (!args.isSet("quiet")) {
    showDenied(screen, deniedHosts, isKept ? name : undefined);
    showFull(screen, exit.full);
  }
  if (isKept && afterMain !== "keep" && !args.isSet("quiet"))
    showKept(screen, name, "its workspace has changed");
  return commandExitCode(exit);
}

/** A box with a name is meant to stay; one without stays only if there is work in it. */
function fateOf(args: Arguments): AfterMain {
  if (args.isSet("rm")) return "remove";
  return isEphemeral(args) ? "remove_if_unchanged" : "keep";
}

/** For people; a script's stderr is left to the command it runs. */
function notes({ args, screen }: CommandContext, created: CreatedBox): void {
  if (!args.isSet("quiet") && screen.streams.stderr.isTTY) showWarnings(screen, created);
}
