import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import { sampleProject } from "../../contract/demo.ts";
import type { CreatedBox } from "../../contract/api/schemas.ts";
import { capture } from "../boxes/capture.ts";
import { plannedExec } from "../new-box/create-box.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { pathKind } from "../../host/files.ts";
import { withProgress } from "../render/progress.ts";
import type { Style } from "../render/style.ts";
import { renderTable } from "../render/table.ts";
import { waitForEnding } from "../terminal/conversation.ts";
import { commandExitCode } from "../terminal/exit-code.ts";
import { PlainLines } from "../terminal/plain-lines.ts";
import { type SampleRepository, makeSampleRepository } from "../tour/sample-repository.ts";
import { renderBoxes } from "./ls.ts";

export const run: RunCommand = async (context) => {
  const client = await context.connect();
  await using sample = await makeSampleRepository();
  const runtime = context.args.text("runtime");
  title(context, "A box is made on a sample repository");
  const started = performance.now();
  const isColoured = context.screen.style.dim("") !== "";
  const words = ["--home", context.env.userHome, ...(isColoured ? ["--color"] : [])];
  const created = await withProgress(context.screen, "Creating the box", () =>
    client.createBox({
      projectDir: sample.dir,
      flags: {
        agent: { name: "demo", args: words },
        ...(runtime === undefined ? {} : { runtime: { name: runtime } }),
      },
      exec: true,
    }),
  );
  const { box } = created;
  const tookMs = Math.round(performance.now() - started);
  const { dim } = context.screen.style;
  context.screen.print(
    `  ${box.name}  ${dim(`${box.spec.runtime}, private ${box.spec.workspace.mode}, up in ${tookMs} ms`)}`,
  );
  try {
    return await show(context, client, sample, created);
  } finally {
    await client.removeBox(box.name, { force: true }).catch(() => undefined);
  }
};

function title({ screen }: CommandContext, text: string): void {
  const { bold, cyan } = screen.style;
  screen.print(`\n${bold(cyan("▸"))} ${bold(text)}`);
}

/** The agent's own words, set off from ours. */
async function watchAgent({ screen }: CommandContext, client: Client, created: CreatedBox): Promise<number> {
  const { dim } = screen.style;
  const stream = await client.exec(created.box.name, {
    ...plannedExec(created),
    stdin: false,
    timeoutMs: 60_000,
  });
  const lines = new PlainLines();
  const show = (text: string) =>
    text && screen.streams.stdout.write(text.replaceAll(/^(?=[^])/gm, `  ${dim("│")} `));
  stream.onData((chunk) => show(lines.push(chunk)));
  try {
    const { exit } = await waitForEnding(stream, { awaitsVerdict: false });
    show(lines.end());
    return commandExitCode(exit);
  } finally {
    stream.close();
  }
}

async function show(
  context: CommandContext,
  client: Client,
  sample: SampleRepository,
  created: CreatedBox,
): Promise<number> {
  const box = created.box.name;
  const { screen, env } = context;
  const { bold, dim, green, red } = screen.style;
  const before = await sample.fingerprint();

  title(context, "The demo agent goes to work in it");
  const agentCode = await watchAgent(context, client, created);

  title(context, "What it changed, as the box tells it");
  const diff = await capture(client, box, { argv: ["git", "--no-pager", "diff", "--no-color", "HEAD~1"] });
  screen.print(renderDiff(diff.stdout, screen.style));

  title(context, "Your repository");
  const isUntouched = before === (await sample.fingerprint()) && (await hasBug(sample.dir));
  screen.print(
    isUntouched
      ? `  ${green("untouched")}  the work stays in the box until you take it`
      : `  ${red("CHANGED")}`,
  );

  title(context, "The boxes on this machine");
  const boxes = (await client.listBoxes()).filter((each) => each.name === box);
  screen.print(
    indent(
      renderBoxes(boxes, {
        nowMs: Date.now(),
        home: env.userHome,
        style: screen.style,
        width: screen.size.cols - 2,
      }),
    ),
  );
  screen.print(dim(`  Their state lives in ${env.agentboxHome}; this one is removed now.`));

  screen.print(`\n${bold("Now you.")} In a project of yours:\n\n${await nextSteps(context)}`);
  return agentCode === 0 && isUntouched ? 0 : 1;
}

const hasBug = async (dir: string): Promise<boolean> =>
  (await readFile(join(dir, sampleProject.buggyFile), "utf8")).includes(sampleProject.bug);

const indent = (text: string): string => text.replaceAll(/^/gm, "  ");

function renderDiff(diff: string, { red, green, dim, cyan }: Style): string {
  const lines = diff
    .trimEnd()
    .split("\n")
    .filter((line) => !/^(diff|index|---|\+\+\+) /.test(line));
  return lines
    .map((raw) => {
      const line = printable(raw);
      if (line.startsWith("+")) return `  ${green(line)}`;
      if (line.startsWith("-")) return `  ${red(line)}`;
      return `  ${line.startsWith("@@") ? cyan(line) : dim(line)}`;
    })
    .join("\n");
}

async function nextSteps({ screen, env, program }: CommandContext): Promise<string> {
  const { cyan, dim } = screen.style;
  const found = await Promise.all(env.path.split(":").map((dir) => pathKind(join(dir, "agentbox"))));
  const isOnPath = found.some((kind) => kind !== undefined);
  const steps = [
    ...(isOnPath ? [] : [[`alias agentbox=${program}`, "once, or add it to your PATH"]]),
    ["agentbox run shell", "a shell in a box on this directory"],
    ["agentbox run shell -- npm test", "one command, and its exit code"],
    ["agentbox doctor --prove", "every guarantee, tried for real"],
    ["agentbox help", "everything else"],
  ];
  return renderTable(
    steps.map(([command, what]) => [cyan(command!), dim(what!)]),
    "  ",
  );
}
