import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import { collect, FixtureBox, removeBuild } from "./box.fixture.ts";

let box: FixtureBox;
beforeAll(async () => {
  box = await FixtureBox.start();
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await removeBuild();
});

const exit = (code: number | null, signal: string | null = null, timedOut = false) => ({
  type: "exit",
  code,
  signal,
  timedOut,
});

test("stdout and stderr are separate and the exit code comes back", async () => {
  const result = await box.exec(["sh", "-c", "echo out; echo err >&2; exit 3"]);
  expect(result).toMatchObject({ stdout: "out\n", stderr: "err\n", last: exit(3), error: undefined });
  expect(result.messages[0]).toEqual({ type: "started" });
});

test("the environment is the box's, the manifest's and the caller's, and nothing of boxd's own", async () => {
  const { stdout } = await box.exec(["env"], { env: { FROM_CALLER: "yes" } });
  const names = stdout
    .trim()
    .split("\n")
    .map((line) => line.split("=")[0]);
  expect(names).toEqual(
    expect.arrayContaining(["FROM_CONFIG", "FROM_CALLER", "AGENTBOX", "AGENTBOX_BOX", "HOME", "PATH"]),
  );
  expect(stdout).toMatch(/^PATH=.*:\/opt\/agentbox\/bin$/m);
  expect(stdout).not.toContain("VITEST");
});

test("the working directory is the workspace, or the one that was asked for", async () => {
  expect((await box.exec(["pwd"])).stdout).toBe(`${box.workspace}\n`);
  expect((await box.exec(["pwd"], { cwd: "/usr" })).stdout).toBe("/usr\n");
  expect((await box.exec(["pwd"], { cwd: "/not/there" })).last).toMatchObject({
    type: "failed",
    code: "file.not_found",
  });
});

test("stdin arrives, and its end", async () => {
  expect((await box.exec(["cat"], {}, "hello")).stdout).toBe("hello");
});

test("what cannot be run says why", async () => {
  expect((await box.exec(["no-such-program"])).last).toMatchObject({
    type: "failed",
    code: "exec.not_found",
  });
  expect((await box.exec(["/etc/passwd"])).last).toMatchObject({
    type: "failed",
    code: "exec.not_executable",
  });
  expect((await box.exec(["no-such-program"], { terminal: { cols: 80, rows: 24 } })).last).toMatchObject({
    code: "exec.not_found",
  });
});

test("a signal reaches the whole process group", async () => {
  const stream = await box.open({ kind: "exec", argv: ["sh", "-c", "sleep 1000 & echo $!; wait"], env: {} });
  const result = collect(stream);
  const child = await new Promise<number>((resolve) =>
    stream.onData((chunk) => resolve(Number(Buffer.from(chunk)))),
  );
  stream.send({ type: "signal", signal: "TERM" });
  expect((await result).last).toEqual(exit(null, "SIGTERM"));
  await waitFor("the child of the shell has ended", () => hasEnded(child));
});

test("a command that takes too long is killed and said to be", async () => {
  expect((await box.exec(["sleep", "1000"], { timeoutMs: 100 })).last).toEqual(exit(null, "SIGKILL", true));
});

test("a grandchild that keeps the pipe open does not hold up the exit", async () => {
  const { stdout, last } = await box.exec(["sh", "-c", "sleep 30 & echo $!"]);
  expect(last).toEqual(exit(0));
  expect(await hasEnded(Number(stdout)), "the grandchild is still there").toBe(false);
  process.kill(Number(stdout), "SIGKILL");
});

test("closing the stream ends the command", async () => {
  const stream = await box.open({ kind: "exec", argv: ["sh", "-c", "echo $$; exec sleep 1000"], env: {} });
  const pid = await new Promise<number>((resolve) =>
    stream.onData((chunk) => resolve(Number(Buffer.from(chunk)))),
  );
  expect(await hasEnded(pid)).toBe(false);
  stream.close();
  await waitFor("the command has ended", () => hasEnded(pid));
});

test("a command on a terminal sees one, and loses none of its last words", async () => {
  const script = "test -t 0 && stty size; seq 1 20000; exit 5";
  const { stdout, stderr, last } = await box.exec(["sh", "-c", script], { terminal: { cols: 91, rows: 33 } });
  const lines = stdout.split("\r\n");
  expect(lines[0]).toBe("33 91");
  expect(lines.slice(1, -1)).toHaveLength(20_000);
  expect(lines.at(-2)).toBe("20000");
  expect(stderr).toBe("");
  expect(last).toEqual(exit(5));
});

test("a terminal's output survives a reader that stops until long after the program has ended", async () => {
  const stream = await box.open({
    kind: "exec",
    argv: ["sh", "-c", "seq 1 300000; echo last"],
    env: {},
    terminal: { cols: 80, rows: 24 },
  });
  const result = collect(stream);
  stream.pause();
  setTimeout(() => stream.resume(), 700);
  const { stdout, last } = await result;
  expect(stdout.split("\r\n")).toHaveLength(300_002);
  expect(last).toEqual(exit(0));
});

test("64 MB to a slow reader arrive whole while boxd stays small", async () => {
  const bytes = 64 << 20;
  const stream = await box.open({ kind: "exec", argv: ["head", "-c", String(bytes), "/dev/zero"], env: {} });
  let seen = 0;
  let peakKiB = 0;
  let sincePause = 0;
  const closed = new Promise<Error | undefined>((resolve) => stream.onClose(resolve));
  stream.onData((chunk) => {
    seen += chunk.length;
    sincePause += chunk.length;
    if (sincePause < 4 << 20) return;
    sincePause = 0;
    stream.pause();
    void residentKiB(box.boxd.pid!).then((kib) => {
      peakKiB = Math.max(peakKiB, kib);
      setTimeout(() => stream.resume(), 20);
    });
  });
  expect(await closed).toBeUndefined();
  expect(seen).toBe(bytes);
  expect(peakKiB).toBeGreaterThan(0);
  expect(peakKiB).toBeLessThan(200 * 1024);
});

test("a command that is not read waits for its reader", async () => {
  const stream = await box.open({
    kind: "exec",
    argv: ["sh", "-c", "head -c 50000000 /dev/zero; echo done >&2"],
    env: {},
  });
  stream.pause();
  let isDone = false;
  const closed = collect(stream);
  stream.onData((_, channel) => (isDone ||= channel === 2));
  expect((await box.exec(["true"])).last).toEqual(exit(0));
  expect(isDone).toBe(false);
  stream.resume();
  expect((await closed).stderr).toBe("done\n");
});

async function residentKiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
}

async function hasEnded(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ") Z");
  return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
}
