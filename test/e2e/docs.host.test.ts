/** The sessions of README.md and docs, run line by line against a real daemon: what they print is what the pages show. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AgentGround, onAgents } from "../support/agents.ts";
import { blocksOf, docPages, stepsOf } from "../support/doc-blocks.ts";
import { answerForDocs, makeShop } from "../support/doc-scene.ts";
import { runProgram } from "../support/program.ts";

/** What differs from one run to the next, replaced on both sides. All else must be the same. */
const varying: readonly (readonly [RegExp, string])[] = [
  // What goes on is told only where it takes long enough to be worth a word.
  [/^[A-Z][\w ,-]+ …\n/gm, ""],
  [/#link=\S+/g, "#link=LINK"],
  [/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT"],
  [/\b[0-9a-f]{12}\b/g, "COMMIT"],
  [/\bclaude \d+\.\d+\.\d+/g, "claude VERSION"],
  [/\b\d+(\.\d+)? ([KMG]i)?B(?=\s|[.,]|$)/gm, "SIZE"],
  [/(?<=\s)(\d+m ?)?\d+[ms](?=\s|,)/g, "TIME"],
  // Columns are as wide as what stands in them.
  [/(?<=\S) {2,}/g, "  "],
];

const normalise = (text: string): readonly string[] =>
  varying
    .reduce((now, [pattern, name]) => now.replace(pattern, name), text)
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());

/** What a command is given that asks for a value. */
const typed = /^agentbox vault set /;

type Shell = (command: string) => Promise<string>;

/** A shell in the home of a person, in which `agentbox` is the built program. Its directory lasts, as on a terminal. */
function openShell({ daemon }: AgentGround): Shell {
  const { argv, env } = daemon.command([]);
  const bin = join(daemon.scratch, ".bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "agentbox"), `#!/bin/sh\nexec ${argv.join(" ")} "$@"\n`, { mode: 0o755 });
  const mark = "-- the directory: ";
  let directory = daemon.scratch;
  return async (command) => {
    const { stdout } = await runProgram(["bash", "-c", `exec 2>&1\n${command}\necho "${mark}$PWD"`], {
      cwd: directory,
      env: { ...env, PATH: `${bin}:${env["PATH"]}` },
      stdin: typed.test(command) ? "a-value\n" : "",
    });
    const at = stdout.lastIndexOf(mark);
    directory = stdout.slice(at + mark.length).trim();
    return stdout.slice(0, at).replaceAll(daemon.scratch, "/home/ada");
  };
}

/** What a page takes for granted before its first session. */
const before: Readonly<Record<string, readonly string[]>> = {
  "docs/boxes.md": [
    "mkdir -p .pyenv/versions/3.12.1/bin .rustup/toolchains/stable-x86_64-unknown-linux-gnu/bin bot",
    "for each in .pyenv/versions/3.12.1/bin/python3.12 .rustup/toolchains/stable-*/bin/rustc; do touch $each; chmod +x $each; done",
    "cd bot && git init -q -b main && echo 3.12 > .python-version",
    "printf '[toolchain]\\nchannel = \"stable\"\\n' > rust-toolchain.toml",
    "agentbox run shell --name shop --detach",
  ],
  "docs/review.md": [
    "cd shop",
    "agentbox run shell --name shop --detach",
    "agentbox exec shop -- sh -c 'echo open >> README.md'",
  ],
  "docs/network.md": ["cd shop", "agentbox run shell --name shop --detach"],
};

onAgents("the documentation", { agents: ["claude"] }, (ground) => {
  const sessionsOf = (page: string) => blocksOf(page).filter(({ language }) => language === "console");
  const pages = docPages.filter((page) => sessionsOf(page).length > 0);

  it.each(pages)(
    "%s shows what its commands print",
    async (page) => {
      ground.play(answerForDocs);
      await makeShop(ground.daemon);
      for (const { name } of await ground.daemon.client.listBoxes())
        await ground.daemon.client.removeBox(name, { force: true, keep: false });
      const shell = openShell(ground);
      await shell("agentbox prune --removed --yes");
      for (const command of before[page] ?? []) await shell(command);
      for (const block of sessionsOf(page)) {
        let printed = "";
        for (const { command } of stepsOf(block)) printed += `$ ${command}\n${await shell(command)}`;
        expect(normalise(printed), `${page}:${block.line}`).toEqual(normalise(block.text));
      }
    },
    100_000,
  );

  it("reads a session of each page that has one", () => {
    expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/boxes.md", "docs/network.md"]));
  });
});
