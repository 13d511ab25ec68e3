/** Commands that people type without having read the help: they work, or lead to the right one. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { boxOf, eventsOf, onAgents } from "../support/agents.ts";
import type { TestDaemon } from "../support/daemon.ts";
import { onPty } from "../support/pty.ts";

/** A command that goes on, and what it has printed so far. */
function follow(daemon: TestDaemon, args: readonly string[]) {
  const { argv, env } = daemon.command(args);
  const child = spawn(argv[0]!, argv.slice(1), { env, cwd: daemon.scratch });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    shows: (text: string) =>
      waitFor(
        `${args.join(" ")} shows ${text}`,
        () => stdout.includes(text) || stderr.includes(text),
        30_000,
      ),
    lines: () => stdout.trimEnd().split("\n"),
    ended,
    interrupt(): Promise<number | null> {
      child.kill("SIGINT");
      return ended;
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

onAgents("the command line", { fixtures: ["notebot"] }, (ground) => {
  it("leads from the name of an agent that is started to the command that runs it", async () => {
    const { daemon } = ground;
    expect(await daemon.cli(["start", "claude"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("hint: agentbox start claude → agentbox run claude"),
    });
    const { stderr } = await daemon.cli(["start", "nothing"]);
    expect(stderr).toContain('There is no box named "nothing".');
    expect(stderr).not.toContain("→");
  });

  it("ends a task with what to do next, and waits for its verdict", async () => {
    const { daemon } = ground;
    const cwd = await ground.project();
    const run = (name: string, ...flags: string[]) =>
      daemon.cli(["run", "notebot", "--task", "Note it.", "--name", name, ...flags], { cwd });
    const { code, stderr } = await run("worked");
    expect(code, stderr).toBe(0);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(
      '  review: agentbox diff worked   merge: agentbox merge worked   more: agentbox send worked "…"',
    );
    const idle = await run("rested", "--autonomy", "ask");
    expect(idle.stderr.trimEnd().split("\n").at(-1)).toBe('  more: agentbox send rested "…"');

    expect(await daemon.cli(["wait", "worked"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^worked: done: \S.*\n$/),
    });
    const { boxes } = await daemon.json<{ boxes: unknown[] }>(["wait", "worked", "--for", "needs-you"]);
    expect(boxes).toEqual([
      { name: "worked", for: "needs-you", outcome: "needs you", exitCode: 0, why: expect.any(String) },
    ]);
    expect((await daemon.cli(["wait", "worked", "nobody"])).code).toBe(3);
    for (const name of ["worked", "rested"]) await daemon.cli(["rm", "--force", name]);
  });

  it("makes boxes from templates, over which flags win", async () => {
    const { daemon } = ground;
    const cwd = await ground.project();
    const file = join(daemon.scratch, "night.toml");
    const text = '[agent]\nname = "notebot"\nautonomy = "ask"\n\n[budget.run]\ntokens = 700\n';
    writeFileSync(file, text);
    expect(await daemon.cli(["template", "save", "night", file])).toMatchObject({
      code: 0,
      stdout: "Saved night. Use it: agentbox run --template night\n",
    });
    expect((await daemon.cli(["template", "ls"])).stdout).toBe("NAME   SETS\nnight  agent budget\n");
    expect((await daemon.cli(["template", "show", "night"])).stdout).toBe(text);
    expect(await daemon.client.listTemplates()).toMatchObject([
      { name: "night", values: { agent: { name: "notebot" }, budget: { run: { tokens: 700 } } } },
    ]);
    const made = ["create", "--template", "night", "--autonomy", "full", "--name", "from-template"];
    expect((await daemon.cli(made, { cwd })).code).toBe(0);
    expect((await boxOf(daemon, "from-template")).spec).toMatchObject({
      agent: { name: "notebot", autonomy: "full" },
      budget: [{ scope: "run", tokens: 700 }],
    });
    await daemon.cli(["rm", "from-template"]);
    // A template is checked like a flag, and another user's file is none.
    writeFileSync(file, '[agent]\nname = "nobot"\n');
    await daemon.cli(["template", "save", "wrong", file]);
    expect((await daemon.cli(["create", "--template", "wrong"], { cwd })).stderr).toContain("nobot");
    const [, other] = ["night", "wrong"].map((name) => join(daemon.home, "templates", `${name}.toml`));
    chmodSync(other!, 0o666);
    expect(await daemon.cli(["create", "--template", "wrong"], { cwd })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("can be written by everybody"),
    });
    chmodSync(other!, 0o600);
    for (const name of ["night", "wrong"]) await daemon.cli(["template", "rm", name]);
    expect((await daemon.cli(["create", "--template", "night"], { cwd })).code).toBe(3);
  });

  it("lists by filter and by name only, and shows each change as it comes", async () => {
    const { daemon } = ground;
    for (const [name, ...start] of [["still"], ["shop-web", "--start"]] as const) {
      const made = await daemon.cli(["create", "shell", "--name", name, "-q", ...start]);
      expect(made, made.stderr).toMatchObject({ code: 0, stdout: `${name}\n`, stderr: "" });
    }
    const names = async (...filter: string[]) => (await daemon.cli(["ls", "-q", ...filter])).stdout;
    expect(await names()).toBe("shop-web\nstill\n");
    expect(await names("--filter", "state=running")).toBe("shop-web\n");
    expect(await names("--filter", "name=shop-*", "--filter", "state=stopped")).toBe("");

    using list = follow(daemon, ["ls", "--watch", "--filter", "name=shop-*"]);
    using documents = follow(daemon, ["ls", "--watch", "--json"]);
    await list.shows("shop-web  running");
    await documents.shows('"still"');
    const waiting = daemon.cli(["wait", "shop-web", "--for", "stopped"]);
    await daemon.cli(["stop", "shop-web"]);
    expect(await waiting).toMatchObject({ code: 0, stdout: "shop-web: stopped\n" });
    await list.shows("shop-web  stopped");
    await daemon.cli(["rm", "--force", "shop-web"]);
    await list.shows("shop-web  removed");
    await documents.shows('"removed"');
    const changes = documents
      .lines()
      .map((line) => JSON.parse(line) as { change: string; box: { name: string } });
    expect(changes.filter(({ box }) => box.name === "still").map(({ change }) => change)).toEqual(["added"]);
    expect(changes.at(-1)).toMatchObject({ change: "removed", box: { name: "shop-web" } });

    const recent = await daemon.cli(["events", "--since", "1h", "--box", "shop-web"]);
    expect(recent.stdout).toMatch(/box\.created[^]*box\.removed/);
    expect((await daemon.cli(["events", "--since", "0s", "--box", "shop-web"])).stdout).toBe("");
    const late = await daemon.cli(["wait", "still", "--timeout", "100ms"]);
    expect(late).toMatchObject({ code: 124, stderr: expect.stringContaining("still not done: still.") });
    await daemon.cli(["rm", "--force", "still"]);
  });

  it("opens a shell that says where it is, and leaves it on a clean line", async () => {
    const { daemon } = ground;
    expect((await daemon.cli(["create", "shell", "--name", "shop-fix", "--start"])).code).toBe(0);
    const piped = await daemon.cli(["exec", "shop-fix"]);
    expect(piped).toMatchObject({
      code: 125,
      stderr: expect.stringContaining("agentbox exec shop-fix -- COMMAND"),
    });
    const { argv, env } = daemon.command(["exec", "shop-fix"]);
    using shell = onPty(argv, { env });
    await shell.shows("You are in the box shop-fix. Leave with ctrl-].");
    await shell.shows("agent@shop-fix:/workspace$ ");
    shell.type("cd /tmp; exec sh\r");
    await shell.shows("agent@shop-fix:/tmp$ ");
    shell.type("\u001d");
    await shell.shows("\r\n\u001b[JLeft shop-fix. Its other programs go on.");
    await shell.ended();
    expect(await daemon.json(["ls"])).toMatchObject({ boxes: [{ name: "shop-fix", phase: "running" }] });
    await daemon.cli(["rm", "--force", "shop-fix"]);
  });

  it("completes names in a real bash, and starts no daemon for it", async () => {
    const { daemon } = ground;
    expect((await daemon.cli(["create", "shell", "--name", "shop-tabbed"])).code).toBe(0);
    const { argv, env } = daemon.command([]);
    const call = argv.map((word) => `'${word}'`).join(" ");
    using shell = onPty(["bash", "--norc", "-i"], { env: { ...env, PS1: "ready: " }, cwd: daemon.scratch });
    shell.type(`agentbox() { ${call} "$@"; }; source <(agentbox completion bash); echo load''ed\r`);
    await shell.shows("loaded");
    for (const [typed, completed] of [
      ["agentbox inspect shop-t\t", "inspect shop-tabbed "],
      ["agentbox run note\t", "run notebot "],
      ["agentbox ls --filter ag\t", "--filter agent="],
      ["agentbox run --network=a\t", "--network=ask "],
    ] as const) {
      shell.type(typed);
      await shell.shows(completed);
      shell.type("\u0015");
    }
    shell.type("exit\r");
    await daemon.cli(["rm", "--force", "shop-tabbed"]);
    const elsewhere = { ...env, AGENTBOX_HOME: join(daemon.scratch, "no-daemon") };
    const asked = await daemon.cli(["completion", "words", "--", "stop", ""], { env: elsewhere });
    expect(asked).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(existsSync(join(daemon.scratch, "no-daemon"))).toBe(false);
  });

  it("forwards ports to several connections at a time, until it is ended or the box is", async () => {
    const { daemon } = ground;
    expect((await daemon.cli(["create", "shell", "--name", "shop-db", "--start"])).code).toBe(0);
    const echo = `const { createServer } = require("node:net");
      createServer({ allowHalfOpen: true }, (one) => {
        one.on("data", (chunk) => one.write("<" + chunk + ">"));
        one.on("end", () => one.end("bye"));
      }).listen(5432, "127.0.0.1", () => console.log("ready"));`;
    using server = follow(daemon, ["exec", "shop-db", "--", "node", "-e", echo]);
    await server.shows("ready");
    using forward = follow(daemon, ["port-forward", "shop-db", "5432:0", "1:0", "--json"]);
    await forward.shows('"port":1,');
    const [db, closed] = forward.lines().map((line) => (JSON.parse(line) as { local: number }).local);
    const talk = (local: number, text: string) =>
      new Promise<string>((resolve) => {
        let heard = "";
        const socket = connect({ host: "127.0.0.1", port: local, allowHalfOpen: true });
        socket.on("data", (chunk) => (heard += chunk.toString()));
        socket.on("error", () => undefined);
        socket.on("close", () => resolve(heard));
        socket.on("end", () => socket.end());
        socket.end(text);
      });
    const large = "x".repeat(3_000_000);
    const [one, two, many] = await Promise.all([talk(db!, "one"), talk(db!, "two"), talk(db!, large)]);
    expect([one, two]).toEqual(["<one>bye", "<two>bye"]);
    expect(many.replaceAll(/[<>]/g, "")).toBe(`${large}bye`);
    expect(await talk(closed!, "one")).toBe("");
    await forward.shows("port.closed");
    expect((await eventsOf(daemon, "shop-db", "port.connected")).length).toBeGreaterThanOrEqual(3);

    const taken = await daemon.cli(["port-forward", "shop-db", `5432:${db}`]);
    expect(taken).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("agentbox port-forward shop-db 5432:0"),
    });
    expect(await forward.interrupt()).toBe(0);
    using second = follow(daemon, ["port-forward", "shop-db", "5432:0"]);
    await second.shows("is port 5432 of shop-db");
    await daemon.cli(["stop", "shop-db"]);
    expect(await second.ended).toBe(4);
    expect((await daemon.cli(["port-forward", "shop-db", "5432"])).code).toBe(4);
    await daemon.cli(["rm", "--force", "shop-db"]);
  });

  it("previews the only port, names several, and says when there is none", async () => {
    const { daemon } = ground;
    const serve = (port: number) =>
      follow(daemon, [
        "exec",
        "shop-ports",
        "--",
        "node",
        "-e",
        `require("node:net").createServer().listen(${port}, "127.0.0.1", () => console.log("ready"))`,
      ]);
    expect((await daemon.cli(["create", "shell", "--name", "shop-ports", "--start"])).code).toBe(0);
    const preview = () => daemon.cli(["preview", "shop-ports", "--print"]);
    expect(await preview()).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("Nothing in shop-ports listens on a port."),
    });
    using one = serve(4000);
    await one.shows("ready");
    expect(await preview()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^http:\/\/.*4000/) });
    using two = serve(4100);
    await two.shows("ready");
    expect(await preview()).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /listens on 2 ports: 4000 \(.*4100 \([^]*agentbox preview shop-ports 4000/,
      ),
    });
    await daemon.cli(["rm", "--force", "shop-ports"]);
  });
});
