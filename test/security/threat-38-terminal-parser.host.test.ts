/**
 * Threat 38: what a box prints acts on the terminal of the person who looks at it. Sequences with control characters in
 * their middle, reports, and everything else that is not drawing go through each way to the screen. Control: the same
 * bytes, as a program gets them, do all of it to the same terminal. Two terminals of others judge random bytes, and real
 * programs look the same with the guard as without.
 */
import { SerializeAddon } from "@xterm/addon-serialize";
import headless from "@xterm/headless";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TerminalGuard } from "../../src/cli/terminal/guard.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { hasProgram } from "../support/host-facts.ts";
import { onPty } from "../support/pty.ts";
import { describeUnless, itUnless } from "../support/skipping.ts";
import { fuzzCount, fuzzSeed, hostileStream } from "../support/terminal-fuzz.ts";
import { seeded } from "../support/seeded.ts";
import { XtermWitness, isHarmless, vtermActs } from "../support/terminal-witness.ts";

const esc = "\u001b";
const stolen = Buffer.from("stolen").toString("base64");
const attack = [
  `${esc}\n]52;c;${stolen}\u0007`,
  `${esc}\u0008]5\r2;c;${stolen}${esc}\\`,
  `${esc}]2;owned-title${esc}\\${esc}[21t`,
  `\u009d52;c;${stolen}\u009c`,
  `${esc}P$q"p${esc}\\${esc}P+q544e${esc}\\`,
  `${esc}[8;10;10t${esc}[5i`,
].join("");
const printed = `first words ${esc}[31mred${esc}[0m${attack} last words\r\n`;
const encoded = Buffer.from(printed).toString("base64");
const prints = ["sh", "-c", `echo ${encoded} | base64 -d`];

async function harmOf(bytes: Uint8Array): Promise<readonly string[]> {
  const witness = new XtermWitness();
  try {
    return (await witness.see(bytes)).filter((act) => !isHarmless(act));
  } finally {
    witness.dispose();
  }
}

describe("threat 38: every way to a person's terminal", () => {
  let daemon: TestDaemon;
  const box = "prints";
  beforeAll(async () => {
    daemon = await startDaemon();
    await daemon.client.createBox({
      name: box,
      flags: { workspace: { mode: "empty" } },
      main: {
        argv: [...prints.slice(0, 2), `${prints[2]}; exec sleep 100000`],
        env: {},
        terminal: true,
        cols: 80,
        rows: 24,
      },
    });
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  /** The output of our own commands to a terminal. */
  async function shown(args: readonly string[], redirected = ""): Promise<Buffer> {
    const { argv, env } = daemon.command(args);
    using program = onPty(["sh", "-c", `"$@" ${redirected}`, "sh", ...argv], { env });
    await program.ended();
    return Buffer.concat(program.written);
  }

  it("control: a program gets every byte, and they act on a terminal", async () => {
    const { stdout } = await daemon.cli(["exec", box, "--", ...prints]);
    expect(stdout).toBe(printed);
    const harm = await harmOf(Buffer.from(stdout));
    for (const act of [`OSC 52 c;${stolen}`, "title owned-title", "CSI t 21", "DCS $q"])
      expect(harm).toContain(act);
  });

  it.each([
    ["exec with a terminal", ["exec", box, "--", ...prints], ""],
    ["exec without a terminal in the box", ["exec", box, "--no-terminal", "--", ...prints], ""],
    ["exec with input from elsewhere", ["exec", box, "--", ...prints], "</dev/null"],
    [
      "its errors, with output to elsewhere",
      ["exec", box, "--", "sh", "-c", `${prints[2]} >&2`],
      "</dev/null >/dev/null",
    ],
    ["logs --raw", ["logs", box, "--raw"], ""],
  ] as const)("%s: the words and colours are shown, and nothing acts", async (_way, args, redirected) => {
    const bytes = await shown(args, redirected);
    expect(bytes.toString()).toContain(`first words ${esc}[31mred${esc}[0m`);
    expect(bytes.toString()).toContain("last words");
    expect(await harmOf(bytes)).toEqual([]);
  });

  it("logs: the words are shown as text, and nothing acts", async () => {
    const bytes = await shown(["logs", box]);
    expect(bytes.toString()).toContain("first words red");
    expect(bytes.toString()).toContain("last words");
    expect(await harmOf(bytes)).toEqual([]);
  });

  it("attach: the same, live and drawn again", async () => {
    const { argv, env } = daemon.command(["attach", box]);
    using program = onPty(argv, { env });
    await program.shows("last words");
    program.type("\u001d");
    await program.ended();
    expect(await harmOf(Buffer.concat(program.written))).toEqual([]);
  });

  it("attach: what follows a sequence at which xterm throws is shown", async () => {
    const program = String.raw`printf '\033[24;80Hx\033[1J'; sleep 1; printf '\033[H\033[2Jafter the fault'; exec sleep 100000`;
    const spec = { argv: ["sh", "-c", program], terminal: true, cols: 80, rows: 24 };
    await daemon.client.startSession(box, { session: "fault", spec });
    const { argv, env } = daemon.command(["attach", box, "--session", "fault"]);
    using attached = onPty(argv, { env });
    await attached.shows("after the fault");
    attached.type("\u001d");
    await attached.ended();
    using again = onPty(argv, { env });
    await again.shows("after the fault");
    again.type("\u001d");
    await again.ended();
  });

  it("names and errors: nothing acts, also as JSON", async () => {
    const name = `\u009d52;c;${stolen}\u009c${esc}\n]0;owned\u0007`;
    for (const args of [
      ["exec", box, "--", name],
      ["exec", box, "--json", "--", name],
      ["cp", `${box}:/${name}`, "/tmp/nowhere"],
      ["inspect", box, "--json"],
      ["events", "--json"],
      ["events"],
    ]) {
      const bytes = await shown(args);
      expect(bytes.length).toBeGreaterThan(0);
      expect(await harmOf(bytes), args.join(" ")).toEqual([]);
    }
  });
});

describeUnless(hasProgram("vterm-dump") ? undefined : "libvterm-bin is not installed")(
  `threat 38: libvterm and any bytes, seed ${fuzzSeed}`,
  () => {
    it("does nothing but draw, move and colour", async () => {
      const random = seeded(fuzzSeed);
      for (let left = fuzzCount(10_000); left > 0; left -= 5_000) {
        const given = Array.from({ length: Math.min(left, 5_000) }, () => hostileStream(random));
        const passed = given.map((bytes) => Buffer.from(new TerminalGuard().push(bytes)));
        expect((await vtermActs(passed)).filter((act) => !isHarmless(act))).toEqual([]);
      }
    }, 120_000);

    it("control: without the guard it does", async () => {
      const random = seeded(fuzzSeed);
      const given = Array.from({ length: 1_000 }, () =>
        Buffer.concat([hostileStream(random), Buffer.from("\u0018")]),
      );
      const acts = (await vtermActs(given)).filter((act) => !isHarmless(act)).join("\n");
      for (const act of [/^OSC 52 /m, /^OSC 0 /m, /^CSI t /m, /^DCS/m, /^APC/m]) expect(acts).toMatch(act);
    });
  },
);

/** The input of each, one after the other, after each text was seen. */
const programs: Readonly<
  Record<string, { argv: string[]; steps: readonly (readonly [string | RegExp, string])[] }>
> = {
  vim: {
    argv: ["vim", "-u", "NONE", "-N", "-c", "syntax on | set mouse=a number title", "sample.ts"],
    steps: [
      ["seven", "G"],
      ["00 é", "ihello"],
      ["INSERT", "\u001b:vsplit\r:q!\r:q!\r"],
    ],
  },
  less: {
    argv: ["less", "sample.ts"],
    steps: [
      ["const seven", "/line 50\r"],
      ["line 60", "G"],
      ["(END)", "q"],
    ],
  },
  top: { argv: ["top", "-d", "600"], steps: [["PID", "q"]] },
  htop: { argv: ["htop", "-d", "100"], steps: [["F10", "q"]] },
  tmux: {
    argv: "tmux -f /dev/null -S tmux.sock new-session|cat sample.ts; read a|;|split-window|-h|echo ready; read b; tmux kill-server"
      .split("|")
      .flatMap((part, index) => (index === 0 ? part.split(" ") : part)),
    steps: [["ready", "\r"]],
  },
};

async function look(
  terminal: headless.Terminal,
  serializer: SerializeAddon,
  bytes: Uint8Array,
): Promise<string> {
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const { cursorX, cursorY, type } = terminal.buffer.active;
  return JSON.stringify([serializer.serialize(), cursorX, cursorY, type, { ...terminal.modes }]);
}

function newTerminal(): readonly [headless.Terminal, SerializeAddon] {
  const terminal = new headless.Terminal({ allowProposedApi: true, cols: 80, rows: 24 });
  const serializer = new SerializeAddon();
  terminal.loadAddon(serializer);
  return [terminal, serializer];
}

describe("threat 38: real programs look the same through the guard", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "agentbox-screen-"));
    const lines = Array.from({ length: 200 }, (_, index) => `// line ${index + 1} é 日本`);
    writeFileSync(join(directory, "sample.ts"), ["const seven = 7; // 🚀", ...lines, ""].join("\n"));
  });
  afterAll(() => {
    // Only there when its test has failed half-way.
    if (hasProgram("tmux")) spawnSync("tmux", ["-S", join(directory, "tmux.sock"), "kill-server"]);
    rmSync(directory, { recursive: true, force: true });
  });

  for (const [name, { argv, steps }] of Object.entries(programs))
    itUnless(hasProgram(name) ? undefined : `${name} is not installed`)(name, async () => {
      using program = onPty(argv, { cwd: directory, env: { ...process.env, LC_ALL: "C.UTF-8", LESS: "" } });
      for (const [seen, keys] of steps) {
        await program.shows(seen);
        program.type(keys);
      }
      await program.ended();
      const guard = new TerminalGuard();
      const [raw, guarded] = [newTerminal(), newTerminal()];
      for (const chunk of program.written)
        expect(await look(...guarded, guard.push(chunk))).toBe(await look(...raw, chunk));
      expect(program.text()).toContain(`${esc}[`);
      for (const [terminal] of [raw, guarded]) terminal.dispose();
    });
});
