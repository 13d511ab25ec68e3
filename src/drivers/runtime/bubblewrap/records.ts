/**
 * The driver's record of a box, in `<boxesDir>/<box>/runtime`. Enough to find the box again from the disk alone, even
 * if the process that started it was killed.
 */
import { randomBytes } from "node:crypto";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../../base/errors.ts";
import { boxNamePattern } from "../../../contract/box.ts";
import type { ProcessIdentity } from "../process-tree.ts";

export interface BoxRecord {
  readonly version: 1;
  readonly name: string;
  /** The boot of the host in which it was started; in another one nothing of it lives. */
  readonly bootId: string;
  /** The link directory, which only this box's processes have in their argv. */
  readonly link: string;
  /** The outermost process and the box's first process; absent when the starter was killed before it knew them. */
  readonly chain?: ProcessIdentity;
  readonly first?: ProcessIdentity;
}

export interface BoxReport {
  readonly childPid?: number;
  readonly exitCode?: number;
}

export class Records {
  readonly #boxesDir: string;
  constructor(boxesDir: string) {
    this.#boxesDir = boxesDir;
  }

  directory(name: string): string {
    return join(this.#boxesDir, name, "runtime");
  }

  /** The file bubblewrap itself writes to, so that a pid is on the disk even if its starter was killed. */
  reportPath(name: string): string {
    return join(this.directory(name), "bubblewrap.status");
  }

  #path(name: string): string {
    return join(this.directory(name), "bubblewrap.json");
  }

  async find(name: string): Promise<BoxRecord | undefined> {
    try {
      const record = JSON.parse(await readFile(this.#path(name), "utf8")) as BoxRecord;
      return record.version === 1 && record.name === name ? record : undefined;
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOENT" || code === "ENOTDIR" || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** Not synced to the disk: after a power cut the boot is another one, and nothing of the box lives. */
  async write(record: BoxRecord): Promise<void> {
    const path = this.#path(record.name);
    const temporary = `${path}.${randomBytes(4).toString("hex")}`;
    await writeFile(temporary, JSON.stringify(record), { mode: 0o600 });
    await rename(temporary, path);
  }

  async report(name: string): Promise<BoxReport> {
    const text = await readFile(this.reportPath(name), "utf8").catch(() => "");
    return parseReport(text);
  }

  async list(): Promise<readonly BoxRecord[]> {
    const names = await readdir(this.#boxesDir).catch(() => []);
    const records = await Promise.all(
      names.filter((name) => boxNamePattern.test(name)).map((name) => this.find(name)),
    );
    return records.filter((record) => record !== undefined);
  }

  async remove(name: string): Promise<void> {
    const names = await readdir(this.directory(name)).catch(() => []);
    for (const file of names.filter((file) => file.startsWith("bubblewrap.") || file.endsWith(".sealed"))) {
      await rm(join(this.directory(name), file), { force: true });
    }
  }
}

/** One JSON document per line; the last may be half-written. */
export function parseReport(text: string): BoxReport {
  let report: BoxReport = {};
  for (const line of text.split("\n").filter((part) => part.trim() !== "")) {
    try {
      const entry = JSON.parse(line) as Record<string, unknown>;
      if (typeof entry["child-pid"] === "number") report = { ...report, childPid: entry["child-pid"] };
      if (typeof entry["exit-code"] === "number") report = { ...report, exitCode: entry["exit-code"] };
    } catch {
      // Half a line: the rest is on its way.
    }
  }
  return report;
}

export const readBootId = async (): Promise<string> =>
  (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
