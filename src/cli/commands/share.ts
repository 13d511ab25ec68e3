import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { renderTable } from "../render/table.ts";
import { left } from "../render/time-left.ts";
import { say } from "../render/say.ts";

export const run: RunCommand = async (context) => {
  const [first, ...words] = context.args.positionals;
  // A box may be called "ls": one word alone is always a box.
  if (words.length === 0) return share(context, first ?? "");
  if (first === "ls" && words.length === 1) return list(context, words[0] ?? "");
  if (first === "rm" && words.length === 2) return remove(context, words[0] ?? "", words[1] ?? "");
  throw new AgentBoxError(
    "input.invalid",
    `"agentbox share ${context.args.positionals.join(" ")}" means nothing.`,
    {
      hint: `Usage: agentbox ${context.command.usage}`,
    },
  );
};

async function share({ args, screen, connect }: CommandContext, box: string): Promise<number> {
  const ttlMs = args.durationMs("for");
  const person = args.text("with");
  const { share: made, url } = await (await connect()).createShare(box, {
    may: args.isSet("work") ? "work" : "look",
    with: person === undefined ? { link: true } : { person },
    ...omitUndefined({ ttlMs }),
  });
  if (screen.isJson) {
    screen.printJson({ share: made, ...omitUndefined({ url }) });
    return 0;
  }
  const does = made.may === "work" ? "work in" : "look at";
  if (url === undefined) screen.print(`${printable(person ?? "")} may ${does} ${box}.`);
  else {
    screen.print(url);
    screen.note(`The first person who opens it may ${does} ${box}, and nothing else here.`);
  }
  screen.note(
    `It ends ${left(made.expiresAtMs, Date.now())}. End it before: agentbox share rm ${box} ${made.id}`,
  );
  return 0;
}

async function list({ screen, connect }: CommandContext, box: string): Promise<number> {
  const shares = await (await connect()).listShares(box);
  if (screen.isJson) screen.printJson({ shares });
  else if (shares.length === 0) screen.print(`${printable(box)} is not shared.`);
  else {
    const rows = shares.map(({ id, may, with: whom, expiresAtMs }) => [
      id,
      may,
      whom.kind === "person" ? printable(whom.name) : whom.isClaimed ? "link, opened" : "link, not opened",
      left(expiresAtMs, Date.now()),
    ]);
    screen.print(renderTable([["ID", "MAY", "WITH", "ENDS"], ...rows]));
  }
  return 0;
}

async function remove(context: CommandContext, box: string, id: string): Promise<number> {
  await (await context.connect()).removeShare(box, { id });
  return say(
    context,
    { box, id },
    `Ended the share ${printable(id)} of ${printable(box)}, and what was open through it.`,
  );
}
