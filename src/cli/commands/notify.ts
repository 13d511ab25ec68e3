import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { suggest } from "../../base/suggest.ts";
import { type NoticeKind, type ReceiverKind, noticeKinds, receiverKinds } from "../../contract/notices.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { say } from "../render/say.ts";
import { age, renderTable } from "../render/table.ts";
import { readSecretValue } from "../secrets/read-secret.ts";

const verbs: Readonly<
  Record<string, (context: CommandContext, words: readonly string[]) => Promise<number>>
> = {
  ls: list,
  add,
  test,
  rm: remove,
};

export const run: RunCommand = async (context) => {
  const [verb = "ls", ...words] = context.args.positionals;
  const action = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (action) return action(context, words);
  throw new AgentBoxError("command.unknown", `There is no "agentbox notify ${verb}".`, {
    hint: `Did you mean: agentbox notify ${suggest(verb, Object.keys(verbs)) ?? "ls"}`,
  });
};

async function list({ screen, connect }: CommandContext): Promise<number> {
  const receivers = await (await connect()).listReceivers();
  if (screen.isJson) screen.printJson({ receivers });
  else if (receivers.length === 0)
    screen.print("Notices go nowhere yet. Add a receiver: agentbox notify add slack|ntfy|email");
  else {
    const nowMs = Date.now();
    const rows = receivers.map(({ id, kind, to, wants, holder, createdAtMs }) => [
      id,
      kind,
      printable(to),
      wants.length === noticeKinds.length ? "all" : wants.join(" "),
      printable(holder),
      `${age(createdAtMs, nowMs)} ago`,
    ]);
    screen.print(renderTable([["ID", "KIND", "TO", "WHEN", "OF", "ADDED"], ...rows]));
  }
  return 0;
}

async function add(context: CommandContext, [kind, address]: readonly string[]): Promise<number> {
  const { args, connect } = context;
  const found = receiverKinds.find((one) => one === kind);
  if (found === undefined)
    throw new AgentBoxError("input.invalid", "Where should notices go?", {
      hint: "Write: agentbox notify add slack, notify add ntfy URL, or notify add email ADDRESS",
    });
  const wants = args.list("on") as readonly NoticeKind[];
  const { receiver } = await (await connect()).createReceiver({
    kind: found,
    address: await addressFor(context, found, address),
    ...(args.isSet("with-token")
      ? { token: await readText(context, "Access token of the ntfy server: ") }
      : {}),
    ...omitUndefined({ wants: wants.length === 0 ? undefined : [...wants] }),
  });
  const summary = `A trial notice has arrived at ${printable(receiver.to)}; notices of your boxes follow.`;
  return say(context, { receiver }, `${summary} Stop them: agentbox notify rm ${receiver.id}`);
}

/** SECURITY: everyone who knows the address of a webhook can write to it, so it is never an argument. */
async function addressFor(
  context: CommandContext,
  kind: ReceiverKind,
  address: string | undefined,
): Promise<string> {
  if (kind === "slack" && address !== undefined)
    throw new AgentBoxError("input.invalid", "The address of a webhook is a secret and never an argument.", {
      hint: "Type it at the prompt, or give it on stdin: agentbox notify add slack",
    });
  if (kind === "slack") return readText(context, "Address of the incoming webhook: ");
  if (address !== undefined) return address;
  throw new AgentBoxError("input.invalid", kind === "ntfy" ? "Which topic?" : "Which mailbox?", {
    hint:
      kind === "ntfy"
        ? "Write: agentbox notify add ntfy https://ntfy.sh/my-agents"
        : "Write: agentbox notify add email ada@example.org",
  });
}

const readText = async (context: CommandContext, question: string): Promise<string> =>
  (await readSecretValue(context, question)).toString("utf8").trim();

async function test(context: CommandContext, [id]: readonly string[]): Promise<number> {
  await (await context.connect()).testReceiver(requireId(id));
  return say(context, { id }, "The trial notice was taken.");
}

async function remove(context: CommandContext, [id]: readonly string[]): Promise<number> {
  await (await context.connect()).removeReceiver(requireId(id));
  return say(context, { id }, "It gets no more notices.");
}

function requireId(id: string | undefined): { id: string } {
  if (id !== undefined) return { id };
  throw new AgentBoxError("input.invalid", "Which receiver?", { hint: "List them: agentbox notify ls" });
}
