/**
 * AccessRecords in one file of the home that only its owner can read. A damaged file is put aside and reported:
 * everyone has to sign in again, and the damage lets no one in.
 */
import { readFile, rename } from "node:fs/promises";
import { systemCode } from "../../base/errors.ts";
import { KeyedMutex } from "../../base/mutex.ts";
import { writeFileAtomic } from "../../host/files.ts";
import type { Logger } from "../../host/logger.ts";
import { type AccessRecords, AccessState } from "../../ports/access-records.ts";

export interface AccessRecordsOptions {
  readonly file: string;
  readonly logger: Logger;
}

export async function openAccessRecords({ file, logger }: AccessRecordsOptions): Promise<AccessRecords> {
  const turns = new KeyedMutex();
  let state = await load(file, logger);
  return {
    get state() {
      return state;
    },
    change: (edit) =>
      turns.run(file, async () => {
        const next = edit(state);
        if (next === state) return;
        await writeFileAtomic(file, JSON.stringify(next), { mode: 0o600 });
        state = next;
      }),
  };
}

async function load(file: string, logger: Logger): Promise<AccessState> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return AccessState.parse({});
    throw error;
  }
  try {
    return AccessState.parse(JSON.parse(text));
  } catch {
    const aside = `${file}.damaged`;
    await rename(file, aside);
    logger.error({ file: aside }, "the records of who may come in are damaged; everybody signs in again");
    return AccessState.parse({});
  }
}
