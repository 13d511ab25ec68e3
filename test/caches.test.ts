import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { omitUndefined } from "../src/base/omit-undefined.ts";
import type { Core } from "../src/core/context.ts";
import { clearCache } from "../src/core/caches/clear-cache.ts";
import { saveCache } from "../src/core/caches/save-cache.ts";
import { stopBox } from "../src/core/box/stop-box.ts";
import { type TestHost, createOn, eventTypes, openTestCore, openTestHost } from "./support/core.ts";

let host: TestHost;
let core: Core & AsyncDisposable;

beforeEach(async () => {
  host = await openTestHost();
  core = await openTestCore(host);
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const mark = ".npm/_cacache/mark";
const markOf = (box: string): string => join(core.ports.storage.dirs(box).home, mark);

async function make(name: string, project: string | undefined, cache?: "box" | "project"): Promise<void> {
  const projectDir = project && join(host.dir, project);
  if (projectDir) await mkdir(projectDir, { recursive: true });
  const workspace = { mode: "empty", ...omitUndefined({ cache }) };
  await createOn(core, { name, flags: { workspace }, ...omitUndefined({ projectDir }) });
}

async function fetchInto(box: string, text: string): Promise<void> {
  await mkdir(dirname(markOf(box)), { recursive: true });
  await writeFile(markOf(box), text);
}

describe("package caches of a project", () => {
  it("are kept when somebody says so, and begin the boxes of that project that ask for them", async () => {
    await make("first", "shop", "project");
    await fetchInto("first", "fetched");
    await expect(saveCache(core, "first")).rejects.toMatchObject({
      code: "box.wrong_phase",
      hint: "Stop it first: agentbox stop first",
    });
    await stopBox(core, "first", {});
    await make("early", "shop", "project");
    expect(await saveCache(core, "first")).toMatchObject({ box: "first", paths: [".npm/_cacache"] });
    await make("second", "shop", "project");
    expect(await readFile(markOf("second"), "utf8")).toBe("fetched");
    await make("plain", "shop");
    await make("own", "shop", "box");
    await make("stranger", "other", "project");
    await make("homeless", undefined, "project");
    for (const name of ["early", "plain", "own", "stranger", "homeless"]) {
      expect(existsSync(markOf(name)), name).toBe(false);
    }
    expect((await core.getBox("second")).spec.cache).toBe("project");
    expect((await core.getBox("own")).spec).not.toHaveProperty("cache");

    await clearCache(core, join(host.dir, "shop"));
    await make("third", "shop", "project");
    expect(existsSync(markOf("third"))).toBe(false);
    expect(await readFile(markOf("second"), "utf8")).toBe("fetched");
    expect(await eventTypes(core)).toEqual(expect.arrayContaining(["cache.saved", "cache.cleared"]));
  });

  it("need a project and something to keep", async () => {
    await make("homeless", undefined);
    await fetchInto("homeless", "fetched");
    await stopBox(core, "homeless", {});
    await expect(saveCache(core, "homeless")).rejects.toMatchObject({ code: "input.invalid" });
    await make("empty", "shop");
    await stopBox(core, "empty", {});
    await expect(saveCache(core, "empty")).rejects.toMatchObject({ code: "input.invalid" });
    await expect(clearCache(core, join(host.dir, "shop"))).rejects.toMatchObject({ code: "file.not_found" });
    expect(await core.ports.caches.list()).toEqual([]);
  });

  it("that cannot be copied leave no box behind", async () => {
    await make("first", "shop");
    await fetchInto("first", "fetched");
    await stopBox(core, "first", {});
    await saveCache(core, "first");
    const store = join(host.dir, "caches");
    const name = createHash("sha256").update(join(host.dir, "shop")).digest("hex");
    await writeFile(join(store, `${name}.tar`), "no archive");
    await expect(make("second", "shop", "project")).rejects.toMatchObject({ code: "workspace.failed" });
    expect((await core.ports.store.listBoxes()).map((box) => box.name)).toEqual(["first"]);
    expect(existsSync(core.ports.storage.dirs("second").home)).toBe(false);
  });
});
