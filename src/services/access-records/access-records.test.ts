import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../host/logger.ts";
import { openAccessRecords } from "./index.ts";

describe("records of who may come in", () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "abx-access-"));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  const open = (name: string) => openAccessRecords({ file: join(dir, name), logger: silentLogger });

  it("outlive the daemon, for its owner only", async () => {
    const records = await open("a.json");
    expect(existsSync(join(dir, "a.json"))).toBe(false);
    await records.change((state) => ({ ...state, port: 7421 }));
    expect((await open("a.json")).state.port).toBe(7421);
    expect(statSync(join(dir, "a.json")).mode & 0o777).toBe(0o600);
  });

  it("are changed one after the other", async () => {
    const records = await open("b.json");
    const owners = Array.from({ length: 20 }, (_, index) => ({
      box: `b${index}`,
      incarnation: "i",
      person: "p",
    }));
    await Promise.all(
      owners.map((owner) =>
        records.change((state) => ({ ...state, boxOwners: [...state.boxOwners, owner] })),
      ),
    );
    expect((await open("b.json")).state.boxOwners.length).toBe(20);
  });

  it.each(["", "{", "[]", '{"sessions":[{"id":1}]}', '{"tokens":"all"}', "\u0000"])(
    "are put aside when they are damaged: %j",
    async (text) => {
      const file = join(dir, "c.json");
      writeFileSync(file, text);
      const records = await open("c.json");
      expect(records.state).toMatchObject({ sessions: [], tokens: [], shares: [], people: [] });
      expect(readFileSync(`${file}.damaged`, "utf8")).toBe(text);
      expect(existsSync(file)).toBe(false);
    },
  );

  it("stay as they were when a change fails", async () => {
    const records = await open("d.json");
    await records.change((state) => ({ ...state, port: 1 }));
    await expect(
      records.change(() => {
        throw new RangeError("no");
      }),
    ).rejects.toThrow("no");
    expect(records.state.port).toBe(1);
    await records.change((state) => ({ ...state, port: 2 }));
    expect(records.state.port).toBe(2);
  });
});
