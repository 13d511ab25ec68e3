import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { removeTree } from "../../../host/files.ts";
import { findFirst } from "./box-processes.ts";
import { parseReport, readBootId, Records } from "./records.ts";

it("reads what bubblewrap reports, half-written lines included", () => {
  expect(parseReport("")).toEqual({});
  expect(parseReport('{ "child-pid": 12, "pid-namespace": 4 }\n{ "exit-c')).toEqual({ childPid: 12 });
  expect(parseReport('{ "child-pid": 12 }\n{ "exit-code": 137 }\n')).toEqual({ childPid: 12, exitCode: 137 });
});

it("finds records, and takes damaged ones for none", async () => {
  const boxesDir = await mkdtemp(join(tmpdir(), "agentbox-records-"));
  const records = new Records(boxesDir);
  const record = { version: 1, name: "good", bootId: "b", link: "/l" } as const;
  await mkdir(records.directory("good"), { recursive: true });
  await records.write(record);
  for (const [name, text] of [
    ["torn", '{"version":1,'],
    ["other", '{"version":1,"name":"good"}'],
  ] as const) {
    await mkdir(records.directory(name), { recursive: true });
    await writeFile(join(records.directory(name), "bubblewrap.json"), text);
  }
  expect(await records.list()).toEqual([record]);
  await records.remove("good");
  expect(await records.list()).toEqual([]);
  await removeTree(boxesDir);
});

it("knows no process from another boot, nor one whose pid was given to a stranger", async () => {
  const bootId = await readBootId();
  const record = { version: 1, name: "good", bootId, link: "/nobody/has/this" } as const;
  expect(
    await findFirst(
      { ...record, bootId: "earlier", first: { pid: process.pid, startTicks: 1 } },
      bootId,
      undefined,
    ),
  ).toBeUndefined();
  expect(
    await findFirst({ ...record, first: { pid: process.pid, startTicks: 1 } }, bootId, undefined),
  ).toBeUndefined();
  expect(await findFirst(record, bootId, process.pid)).toBeUndefined();
});
