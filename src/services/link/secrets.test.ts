import { lstat, mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import type { ServiceSpec } from "../../contract/box.ts";
import { FixtureBox, collect, removeBuild } from "./box.fixture.ts";

afterAll(removeBuild);

const canary = "canary-0f6c2a";
const put = (env: Record<string, string>, files: { path: string; base64: string }[] = []) => ({ env, files });
const base64 = (text: string): string => Buffer.from(text).toString("base64");

const printing: ServiceSpec = {
  name: "printing",
  argv: ["/bin/sh", "-c", "echo token=$TOKEN; exec sleep 600"],
  env: {},
  after: [],
  ready: { kind: "none" },
  readyTimeoutMs: 5_000,
  restart: "no",
};
const stateOf = async (box: FixtureBox): Promise<string | undefined> =>
  (await box.link.health()).services[0]?.state;

test("services wait for the secrets the box holds, start with them, and once", async () => {
  await using box = await FixtureBox.start({ services: [printing], awaitsSecrets: true });
  expect((await box.exec(["printenv", "TOKEN"])).last).toMatchObject({ code: 1 });
  expect(await stateOf(box)).toBe("waiting");
  await box.link.putSecrets(put({ TOKEN: canary }));
  await waitFor("the service runs", async () => (await stateOf(box)) === "ready");
  const following = await box.open({ kind: "follow", source: "service:printing", offset: 0 });
  const printed = collect(following);
  // A daemon that was killed half-way sends them again.
  await box.link.putSecrets(put({ TOKEN: canary }));
  expect((await box.link.health()).services).toMatchObject([{ state: "ready", restarts: 0 }]);
  await waitFor("its output", async () => (await box.link.health()).services[0]!.outputBytes > 0);
  await box.link.shutdown(200);
  expect((await printed).stdout).toBe(`token=${canary}\n`);
});

test("without secrets to wait for, services start by themselves: the control", async () => {
  await using box = await FixtureBox.start({ services: [printing] });
  await waitFor("the service runs", async () => (await stateOf(box)) === "ready");
  expect((await box.link.health()).services).toMatchObject([{ state: "ready", restarts: 0 }]);
});

test("commands and sessions that start from then on have the variables; the file beside the socket has not", async () => {
  await using box = await FixtureBox.start({ awaitsSecrets: true });
  await box.link.putSecrets(put({ TOKEN: canary }));
  expect((await box.exec(["printenv", "TOKEN"])).stdout).toBe(`${canary}\n`);
  const argv = ["/bin/sh", "-c", "echo $TOKEN > seen"];
  await box.link.startSession("main", { argv, env: {}, terminal: false, cols: 80, rows: 24 });
  const seen = join(box.workspace, "seen");
  await waitFor(
    "the session wrote",
    async () => (await readFile(seen, "utf8").catch(() => "")) === `${canary}\n`,
  );
  for (const name of await readdir(box.linkDir)) {
    const path = join(box.linkDir, name);
    if ((await lstat(path)).isFile()) expect(await readFile(path, "utf8"), name).not.toContain(canary);
  }
});

test("files are for the box's user only, and nothing is written through a link", async () => {
  await using box = await FixtureBox.start({ awaitsSecrets: true });
  const dir = join(box.dir, "secrets");
  const outside = join(box.dir, "outside");
  await mkdir(dir);
  await writeFile(outside, "as it was");
  await symlink(outside, join(dir, "token"));
  await box.link.putSecrets(put({}, [{ path: join(dir, "token"), base64: base64(`${canary}\0\n`) }]));
  expect(await readFile(join(dir, "token"), "utf8")).toBe(`${canary}\0\n`);
  expect((await lstat(join(dir, "token"))).mode & 0o7777).toBe(0o600);
  expect(await readFile(outside, "utf8")).toBe("as it was");
});

test("a file that cannot be written is said, without what was to be in it", async () => {
  await using box = await FixtureBox.start({ services: [printing], awaitsSecrets: true });
  const secrets = put({ TOKEN: canary }, [
    { path: join(box.dir, "absent", "token"), base64: base64(canary) },
  ]);
  const error = await box.link.putSecrets(secrets).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: "file.not_found" });
  expect(JSON.stringify(error) + String(error)).not.toContain(canary);
  expect(await stateOf(box)).toBe("waiting");
});
