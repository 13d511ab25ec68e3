import { appendFile, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { waitFor } from "../base/wait-for.ts";
import { HooksFile } from "./hooks-file.ts";

let dir: string;
let hooks: HooksFile;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "abx-hooks-"));
});
afterEach(async () => {
  hooks.close();
  await rm(dir, { recursive: true, force: true });
});

it("tells what is appended, once, and nothing of an earlier run", async () => {
  const path = join(dir, "hooks.jsonl");
  await writeFile(path, '{"old":1}\n');
  hooks = new HooksFile(path);
  await hooks.open();
  await appendFile(path, '{"a":1}\n');
  await appendFile(path, '{"b":2}\n');
  await waitFor("the hooks to be read", () => hooks.ring.total >= 16);
  expect(Buffer.from(hooks.ring.read(0)!.bytes).toString()).toBe('{"a":1}\n{"b":2}\n');
});

it("empties a file that has grown long, and goes on", async () => {
  const path = join(dir, "deep/hooks.jsonl");
  hooks = new HooksFile(path, 1_000);
  await hooks.open();
  await appendFile(path, Buffer.alloc(2_000, "x"));
  await waitFor("the file to be emptied", async () => (await stat(path)).size === 0);
  await appendFile(path, '{"a":1}\n');
  await waitFor("the hooks to be read", () => hooks.ring.total >= 2_008);
  expect((await stat(path)).size).toBe(8);
  expect(Buffer.from(hooks.ring.read(2_000)!.bytes).toString()).toBe('{"a":1}\n');
});
