/** pr and push: the work on a branch of its own at the project's remote, with or without a pull request. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { exitCodes } from "../../base/error-codes.ts";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { PushMode, PushRecord } from "../../contract/review/push.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { lookAtWork, showingConflicts } from "../boxes/look-at-work.ts";
import { withProgress } from "../render/progress.ts";
import { plural } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const { args, screen, command } = context;
  const box = args.positionals[0]!;
  const isPushOnly = command.name === "push" || args.isSet("push-only");
  const body = await readBody(context);
  const client = await context.connect();
  const looked = await lookAtWork(context, client, box, "push");
  if (looked === undefined) return exitCodes.refused;
  const given = (name: string) => {
    const value = args.text(name);
    return value === undefined ? {} : { [name]: value };
  };
  const push = await showingConflicts(screen, () =>
    withProgress(screen, isPushOnly ? "Pushing" : "Pushing, and opening a pull request", () =>
      client.pushWork(box, {
        ...looked,
        ...given("title"),
        ...given("base"),
        ...given("branch"),
        ...given("remote"),
        ...given("secret"),
        ...omitUndefined({ body }),
        mode: (args.text("mode") ?? "squash") as PushMode,
        isDraft: args.isSet("draft"),
        isPushOnly,
      }),
    ),
  );
  if (screen.isJson) screen.printJson({ push });
  else {
    screen.note(
      `${plural(push.files, "file")} on ${printable(push.branch)} at ${printable(push.host)} (${push.commit.slice(0, 12)})`,
    );
    screen.print(addressOf(push, isPushOnly));
  }
  return 0;
};

/** The next step for the person: the pull request, the page to open one, or the branch. */
function addressOf({ url, compareUrl, repository, branch }: PushRecord, isPushOnly: boolean): string {
  if (!isPushOnly && url !== undefined) return printable(url);
  return printable(compareUrl ?? `${repository} ${branch}`);
}

async function readBody({ args, cwd }: CommandContext): Promise<string | undefined> {
  const [body, file] = [args.text("body"), args.text("body-file")];
  if (file === undefined) return body;
  if (body !== undefined) {
    throw new AgentBoxError("input.invalid", "There are two texts: --body and --body-file.", {
      hint: "Use one of them.",
    });
  }
  try {
    return await readFile(resolve(cwd, file), "utf8");
  } catch (error) {
    throw new AgentBoxError("file.not_found", `${file} cannot be read: ${messageOf(error)}.`, {
      hint: "Name a file with the text of the pull request.",
    });
  }
}
